package container

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go/middleware"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/objects"
	"github.com/belfry-scheduler/belfry/pkg/observe/otlp"
	"github.com/belfry-scheduler/belfry/pkg/target"
	"github.com/belfry-scheduler/belfry/pkg/target/cloud"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// connections is how many idle connections to each service are kept: every
// running execution makes its calls beside the others.
const connections = 512

// wire makes the worker out of the environment and the flags, and tells which
// pools it serves. It makes no call; queues is an option of the client that
// receives.
func wire(ctx context.Context, f flags, e assemble.Environment, queues func(*sqs.Options), log *slog.Logger, register []func(*worker.Worker)) (*worker.Worker, []string, *otlp.Export, error) {
	client := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConns, t.MaxIdleConnsPerHost = 2*connections, connections
	})
	skew := &clock.Skew{}
	aws, err := config.LoadDefaultConfig(ctx, config.WithHTTPClient(client), config.WithAPIOptions([]func(*middleware.Stack) error{assemble.Sampled(skew, clock.System{})}))
	if err != nil {
		return nil, nil, nil, fmt.Errorf("configure the AWS clients: %w", err)
	}
	settings := e.Settings(log)
	settings.Skew = skew
	traces, err := assemble.Traces(ctx, e.Traces, settings, e.Prefix+"-worker", e.Version, aws)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("open the export of traces: %w", err)
	}
	settings.Tracer = traces.Spans()
	belfry := assemble.New(assemble.Clients{DynamoDB: dynamodb.NewFromConfig(aws), SQS: sqs.NewFromConfig(aws, queues)}, settings)
	if e.Bucket != "" {
		belfry.Objects = objects.New(objects.NewClient(aws), e.Bucket)
	}
	belfry.Payloads = objects.NewPayloads(objects.NewClient(aws), settings.Payloads)
	served := e.ServedPools(belfry.Settings.Pools)
	var pools []worker.Pool
	for _, p := range served {
		slots := p.Slots
		if f.slots != 0 {
			slots = f.slots
		}
		pools = append(pools, worker.Pool{Name: p.Name, Lease: p.Lease, Slots: slots})
	}
	var breakers worker.Breakers
	if !e.NoBreaker {
		breakers = belfry.Store
	}
	w, err := worker.New(worker.Options{Queue: belfry.Queues, Execution: belfry.Execute(nil), Pools: pools, Drain: f.drain,
		DeadLetters: f.deadLetters, Breakers: breakers, BreakerRules: e.Breaker, Log: log})
	if err != nil {
		return nil, nil, nil, err
	}
	account := cloud.New(cloud.Options{AWS: &aws, Installation: e.Prefix})
	account.Register(w)
	err = target.Register(w, target.Options{WebhookSecret: e.WebhookSecret, WebhookAllow: e.WebhookAllow, UserAgent: "Belfry/" + e.Version,
		Secrets: e.Secrets, ReadSecret: account.ReadSecret})
	for _, add := range register {
		add(w)
	}
	return w, served.Names(), traces, err
}
