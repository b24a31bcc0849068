package functions

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go/middleware"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/observe/otlp"
)

// Installation is what every function is made from.
type Installation struct {
	*assemble.Belfry
	Environment assemble.Environment
	Log         *slog.Logger
	Skew        *clock.Skew // of this machine's clock; without samples where New made it
	AWS         aws.Config  // for clients that only one function has; zero where New made it
	// ReadSecret reads secrets that jobs refer to; nil = none. The function work sets it.
	ReadSecret func(ctx context.Context, ref job.SecretRef) (string, error)
	Traces     *otlp.Export // nil: off
}

// New joins what was assembled with the environment it runs in.
func New(b *assemble.Belfry, e assemble.Environment) *Installation {
	log := b.Settings.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Installation{Belfry: b, Environment: e, Log: log, Skew: &clock.Skew{}}
}

// connections is how many idle connections to each service are kept: a scan or
// a batch makes that many calls at a time.
const connections = 128

// Open makes the installation that the environment names, which writes its log
// and its figures to out as JSON lines. It makes no call. Traces are exported
// when the variables OTEL_… name an endpoint.
func Open(ctx context.Context, lookup func(string) (string, bool), out io.Writer) (*Installation, error) {
	e, err := assemble.ReadEnvironment(lookup)
	if err != nil {
		return nil, fmt.Errorf("read the environment: %w", err)
	}
	client := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConns, t.MaxIdleConnsPerHost = 2*connections, connections
	})
	skew := &clock.Skew{}
	configured, err := config.LoadDefaultConfig(ctx, config.WithHTTPClient(client), config.WithAPIOptions([]func(*middleware.Stack) error{assemble.Sampled(skew, clock.System{})}))
	if err != nil {
		return nil, fmt.Errorf("configure the AWS clients: %w", err)
	}
	log := slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{Level: e.LogLevel}))
	clients := assemble.Clients{DynamoDB: dynamodb.NewFromConfig(configured), SQS: sqs.NewFromConfig(configured)}
	settings := e.Settings(log)
	settings.Skew = skew
	if e.Metrics {
		settings.Metrics = assemble.Metrics(settings, out)
	}
	service, _ := lookup("AWS_LAMBDA_FUNCTION_NAME")
	traces, err := assemble.Traces(ctx, e.Traces, settings, service, e.Version, configured)
	if err != nil {
		return nil, fmt.Errorf("open the export of traces: %w", err)
	}
	settings.Tracer = traces.Spans()
	installation := New(assemble.New(clients, settings), e)
	installation.AWS, installation.Traces, installation.Skew = configured, traces, skew
	return installation, nil
}

// Main is the main of a function: it opens the installation, makes the handler
// and serves it until the platform ends the process. What makes that impossible
// is logged and ends the process, so that the platform reports a failed start.
func Main(handler func(*Installation) (any, error)) {
	installation, err := Open(context.Background(), os.LookupEnv, os.Stdout)
	var made any
	if err == nil {
		made, err = handler(installation)
	}
	if err != nil {
		slog.New(slog.NewJSONHandler(os.Stdout, nil)).Error("the function cannot start", slog.Any("error", err))
		os.Exit(1)
	}
	installation.Traces.Install()
	lambda.Start(installation.traced(lambda.NewHandler(made)))
}
