package events_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/functions"
	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
)

// hands is a clock that stands until a test moves it. Waiting takes as long as
// it would on a running clock.
type hands struct {
	mu  sync.Mutex
	now time.Time
}

func (h *hands) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *hands) Wait(ctx context.Context, until time.Time) error {
	timer := time.NewTimer(until.Sub(h.Now()))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}

func (h *hands) set(to time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = to
}

// station is an installation in memory in which nothing is left to chance: the
// clock stands five minutes before the scheduled time until a test moves it.
type station struct {
	*functions.Installation
	clock   *hands
	backend *localaws.Backend
}

func newStation(t *testing.T, e assemble.Environment) *station {
	t.Helper()
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	clients := assemble.Clients{DynamoDB: dynamodb.NewFromConfig(backend.Config()), SQS: sqs.NewFromConfig(backend.Config())}
	pool, _ := dispatch.Pools(dispatch.DefaultPools()).Find("fast-io")
	words := 0
	clock := &hands{now: halfPastOne.Add(-5 * time.Minute)}
	b := assemble.New(clients, assemble.Settings{Shards: 1, Owner: "worker-a", Clock: clock, Pools: dispatch.Pools{pool},
		Entropy: strings.NewReader(strings.Repeat("belfry", 100)), Spread: func() float64 { return 0.5 },
		Words: func() string { words++; return fmt.Sprintf("word%04d", words) }})
	if err := b.Ensure(t.Context(), clients); err != nil {
		t.Fatal(err)
	}
	return &station{Installation: functions.New(b, e), clock: clock, backend: backend}
}

// put makes the job of the samples; the definition says what it does.
func (s *station) put(t *testing.T, d job.Definition) {
	t.Helper()
	d.Job = nightly.Job
	d.Schedule = job.Schedule{Cron: "30 1 * * *"}
	if _, err := s.Control.Put(t.Context(), control.PutRequest{Ref: nightly, Definition: d, Actor: "ada"}); err != nil {
		t.Fatal(err)
	}
}
