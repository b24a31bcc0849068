package cloud

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/observe"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// CodeNotConfigured is the failure of a target in AWS on a worker that was given
// no account.
const CodeNotConfigured = "AWS_NOT_CONFIGURED"

// Options say which account is called. The zero value is none.
type Options struct {
	// AWS configures the clients; nil = the worker has no account, and attempts of
	// jobs with a target in AWS fail for good with AWS_NOT_CONFIGURED.
	AWS *aws.Config
	// WithoutAWS is what such an attempt tells a person to do; empty = to give the
	// worker a region and credentials.
	WithoutAWS string
	// Installation is the installation's prefix. It keeps apart what two of them
	// start in one account.
	Installation string
	Clock        Clock // nil = the system's
}

// Clock tells the time.
type Clock interface {
	// Now is the current time.
	Now() time.Time
	// Wait returns nil at or after until, or the context's error before.
	Wait(ctx context.Context, until time.Time) error
}

// Account is the AWS account of a worker. Each client is made when it is first
// needed: most workers need one of them, or none. A call is made once: Belfry's
// own retry decides about another, and keeps its count.
type Account struct {
	there        bool
	without      string // what to do where there is none
	installation string
	clock        Clock

	lambda func() *lambda.Client
	sqs    func() *sqs.Client
	sns    func() *sns.Client
	events func() *eventbridge.Client
	states func() *sfn.Client
	ecs    func() *ecs.Client

	secrets func() *secretsmanager.Client
	ssm     func() *ssm.Client
}

// New makes the account. It makes no call and no client.
func New(o Options) *Account {
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	a := &Account{there: o.AWS != nil, without: o.WithoutAWS, installation: o.Installation, clock: o.Clock}
	if a.without == "" {
		a.without = "give the worker an AWS region and credentials"
	}
	if !a.there {
		return a
	}
	config := o.AWS.Copy()
	config.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	a.lambda = sync.OnceValue(func() *lambda.Client { return lambda.NewFromConfig(config) })
	a.sqs = sync.OnceValue(func() *sqs.Client { return sqs.NewFromConfig(config) })
	a.sns = sync.OnceValue(func() *sns.Client { return sns.NewFromConfig(config) })
	a.events = sync.OnceValue(func() *eventbridge.Client { return eventbridge.NewFromConfig(config) })
	a.states = sync.OnceValue(func() *sfn.Client { return sfn.NewFromConfig(config) })
	a.ecs = sync.OnceValue(func() *ecs.Client { return ecs.NewFromConfig(config) })
	a.secrets = sync.OnceValue(func() *secretsmanager.Client { return secretsmanager.NewFromConfig(config) })
	a.ssm = sync.OnceValue(func() *ssm.Client { return ssm.NewFromConfig(config) })
	return a
}

// Register adds the targets in AWS to a worker.
func (a *Account) Register(w *worker.Worker) {
	called := worker.ResourceOf(resource)
	worker.Handle(w, job.Target{Lambda: &job.LambdaTarget{}}.HandlerName(), a.invoke, called)
	worker.Handle(w, job.Target{SQS: &job.SQSTarget{}}.HandlerName(), a.send, called)
	worker.Handle(w, job.Target{SNS: &job.SNSTarget{}}.HandlerName(), a.publish, called)
	worker.Handle(w, job.Target{EventBridge: &job.EventBridgeTarget{}}.HandlerName(), a.put, called)
	worker.Handle(w, job.Target{StepFunctions: &job.StepFunctionsTarget{}}.HandlerName(), a.start, called)
	worker.Handle(w, job.Target{ECS: &job.ECSTarget{}}.HandlerName(), a.run, called)
}

// call is one call of a target: its service in the words of codes, such as SQS,
// and its operation.
type call struct {
	service, operation string
	// send makes the call. What it started goes to the log, when it is not nil.
	send func(ctx context.Context, c contract) ([]slog.Attr, error)
}

// perform makes one call for an attempt: with its contract, in a span of its
// own, and with what it started in the attempt's log.
func (a *Account) perform(ctx context.Context, attempt *worker.Attempt, c call) error {
	if !a.there {
		return worker.Elsewhere(worker.WithCode(CodeNotConfigured, worker.Permanent(fmt.Errorf("this worker has no AWS account to call %s in: %s", named(c.service), a.without))))
	}
	span := observe.CallAWS(ctx, c.service, c.operation, a.clock.Now())
	defer func() { span.End(a.clock.Now()) }()
	started, err := c.send(ctx, contractOf(attempt, span.Traceparent()))
	if err != nil {
		err = a.failure(ctx, c.service, err)
		if f := worker.FailureOf(err); f != nil {
			span.Failed(string(f.Class), f.Code)
		}
	}
	if started != nil {
		attempt.Log().LogAttrs(ctx, slog.LevelInfo, "target started", append([]slog.Attr{slog.String("service", c.service)}, started...)...)
	}
	return err
}

// named is what people call a service.
func named(service string) string {
	switch service {
	case "LAMBDA":
		return "Lambda"
	case "EVENTBRIDGE":
		return "EventBridge"
	case "STEPFUNCTIONS":
		return "Step Functions"
	case "SECRETSMANAGER":
		return "Secrets Manager"
	}
	return service
}

// unusable is the failure of an attempt whose job names no target of that kind:
// a handler of one's own was given the name of one of ours.
func unusable(service string) error {
	return worker.WithCode(service+"_UNUSABLE", worker.Permanent(errors.New("the job names no target of this kind")))
}

// regionOf is the region that an ARN names; empty = the worker's own.
func regionOf(arns ...string) string {
	for _, text := range arns {
		if a, is := job.ParseARN(text); is {
			return a.Region
		}
	}
	return ""
}

// in sets the region of one call, where the target names one.
func in(region string, of *string) {
	if region != "" {
		*of = region
	}
}
