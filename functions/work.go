package functions

import (
	"context"

	"github.com/aws/aws-lambda-go/events"

	"github.com/belfry-scheduler/belfry/pkg/observe"
	"github.com/belfry-scheduler/belfry/pkg/target"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// Work is the handler of the function behind the queues of the pools that the
// environment names. Webhook and log are registered; register adds the targets in
// AWS, whose clients no other function carries, and handlers of one's own. What S3
// keeps for it, i.Objects and i.Payloads, its main gives it for the same reason.
func Work(i *Installation, register ...func(*worker.Worker)) (SQSHandler, error) {
	e := i.Environment
	w, err := i.worker(func(o *worker.Options) {
		if !e.NoBreaker {
			o.Breakers = i.Store
		}
		o.BreakerRules, o.Metrics = e.Breaker, i.Settings.Metrics
	})
	if err != nil {
		return nil, err
	}
	options := target.Options{WebhookSecret: e.WebhookSecret, WebhookAllow: e.WebhookAllow, UserAgent: "Belfry/" + e.Version, Secrets: e.Secrets,
		ReadSecret: i.ReadSecret, Clock: i.Settings.Clock}
	err = target.Register(w, options)
	if err != nil {
		return nil, err
	}
	for _, add := range register {
		add(w)
	}
	if err := w.Check(); err != nil {
		return nil, err
	}
	return w.Lambda(), nil
}

// DeadLetter is the handler of the function behind the dead-letter queues. It
// runs nothing, so it needs no handlers.
func DeadLetter(i *Installation) (SQSHandler, error) {
	w, err := i.worker(func(*worker.Options) {})
	if err != nil {
		return nil, err
	}
	handle := w.DeadLetter()
	return func(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
		response, err := handle(ctx, batch)
		if err == nil {
			i.measureDeadLetters(batch, response)
		}
		return response, err
	}, nil
}

// measureDeadLetters counts what was taken up and what stays.
func (i *Installation) measureDeadLetters(batch events.SQSEvent, response events.SQSEventResponse) {
	stays := make(map[string]bool, len(response.BatchItemFailures))
	for _, f := range response.BatchItemFailures {
		stays[f.ItemIdentifier] = true
	}
	kept := 0
	for _, m := range batch.Records {
		if stays[m.MessageId] {
			kept++
		}
	}
	figures := i.Settings.Metrics.Batch()
	defer figures.Flush()
	figures.Count(observe.DeadLettersKept, observe.Labels{}, kept)
	figures.Count(observe.Redriven, observe.Labels{}, len(batch.Records)-kept)
}

func (i *Installation) worker(change func(*worker.Options)) (*worker.Worker, error) {
	var pools []worker.Pool
	for _, p := range i.Environment.ServedPools(i.Settings.Pools) {
		pools = append(pools, worker.Pool{Name: p.Name, Lease: p.Lease, Slots: p.Slots})
	}
	options := worker.Options{Queue: i.Queues, Execution: i.Execute(nil), Pools: pools, Log: i.Log}
	change(&options)
	return worker.New(options)
}
