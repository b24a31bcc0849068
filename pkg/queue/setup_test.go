package queue_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/queue"
)

// setup is an installation's queues on a backend in memory, for pool fast-io.
func setup(t *testing.T, pools ...string) (*queue.Client, *localaws.Backend) {
	t.Helper()
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	c := queue.New(sqs.NewFromConfig(backend.Config()), queue.Names{}, clock.System{})
	if err := c.Ensure(t.Context(), append([]string{"fast-io"}, pools...)); err != nil {
		t.Fatal(err)
	}
	return c, backend
}

// parcel is the execution of job for the second at, on its way to fast-io.
func parcel(name string, at time.Time) job.Parcel {
	return job.Parcel{Ref: job.Ref{Tenant: "default", Job: name}, Key: job.ScheduledKey(at), Epoch: 3, Pool: "fast-io", NotBefore: at}
}

// send sends and wants every parcel accepted.
func send(t *testing.T, c *queue.Client, parcels ...job.Parcel) {
	t.Helper()
	for i, err := range c.Send(t.Context(), parcels) {
		if err != nil {
			t.Fatalf("parcel %d: %v", i, err)
		}
	}
}

// receive takes up to ten messages that are there within wait, hidden for a minute.
func receive(t *testing.T, q *queue.Queue, wait time.Duration) []queue.Received {
	t.Helper()
	messages, err := q.Receive(t.Context(), 10, wait, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return messages
}
