package worker_test

import (
	"context"
	"fmt"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// installation is one in memory; with the AWS clients of a real one the rest is the
// same.
func installation() (*assemble.Belfry, worker.Options) {
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		panic(err)
	}
	clients := assemble.Clients{DynamoDB: dynamodb.NewFromConfig(backend.Config()), SQS: sqs.NewFromConfig(backend.Config())}
	belfry := assemble.New(clients, assemble.Settings{Shards: 1})
	if err := belfry.Ensure(context.Background(), clients); err != nil {
		panic(err)
	}
	return belfry, worker.Options{Queue: belfry.Queues, Execution: belfry.Execute(nil), Pools: []worker.Pool{{Name: "fast-io"}}}
}

// A container's worker serves its pools until its context ends, and drains.
func ExampleWorker_Run() {
	belfry, options := installation()
	w, err := worker.New(options)
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background()) // signal.NotifyContext in a main
	worker.Handle(w, "greet", func(context.Context, *worker.Attempt) error {
		fmt.Println("hello")
		stop() // as SIGTERM
		return nil
	})
	runNow(belfry, "greet")
	fmt.Println("ended with", w.Run(ctx))
	// Output:
	// hello
	// ended with <nil>
}

// runNow makes a job for the handler and runs it.
func runNow(belfry *assemble.Belfry, handler string) {
	ref := job.Ref{Tenant: "default", Job: handler}
	d := job.Definition{Schedule: job.Schedule{Every: job.Duration(24 * 3600e9)}, Target: job.Target{Handler: &job.HandlerTarget{Name: handler}}}
	if _, err := belfry.Control.Put(context.Background(), control.PutRequest{Ref: ref, Definition: d, Actor: "example"}); err != nil {
		panic(err)
	}
	if _, err := belfry.Control.RunNow(context.Background(), control.RunRequest{Ref: ref, Actor: "example"}); err != nil {
		panic(err)
	}
}

// The same handlers as a Lambda function: lambda.Start(w.Lambda()). What an
// invocation could not bring to its end it names, and the queue keeps.
func ExampleWorker_Lambda() {
	belfry, options := installation()
	w, err := worker.New(options)
	if err != nil {
		panic(err)
	}
	worker.Handle(w, "greet", func(context.Context, *worker.Attempt) error { return nil })
	handle := w.Lambda()
	answer, err := handle(context.Background(), events.SQSEvent{Records: []events.SQSMessage{{MessageId: "m1", Body: "no message of Belfry's",
		EventSourceARN: "arn:aws:sqs:eu-west-1:111122223333:" + belfry.Queues.Names.Work("fast-io")}}})
	fmt.Println(err, "kept:", answer.BatchItemFailures[0].ItemIdentifier)
	// Output:
	// <nil> kept: m1
}
