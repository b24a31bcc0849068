package platform_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/localaws/platform"
)

type handler = func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)

// station is a queue with a poller on it.
type station struct {
	*testing.T
	client *sqs.Client
	queue  string
	poller platform.Poller
	errs   []error
	mu     sync.Mutex
}

func newStation(t *testing.T, function handler) *station {
	t.Helper()
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	client := sqs.NewFromConfig(backend.Config())
	out, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{
		QueueName: aws.String("work"), Attributes: map[string]string{"VisibilityTimeout": "30"},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &station{T: t, client: client, queue: *out.QueueUrl}
	s.poller = platform.Poller{
		Runtime:  platform.Runtime{Timeout: 5 * time.Second},
		Function: function, Client: client, Queue: s.queue,
		OnError: func(err error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.errs = append(s.errs, err)
		},
	}
	return s
}

func (s *station) send(n int) {
	s.Helper()
	for i := range n {
		if _, err := s.client.SendMessage(s.Context(), &sqs.SendMessageInput{QueueUrl: &s.queue, MessageBody: aws.String(strconv.Itoa(i))}); err != nil {
			s.Fatal(err)
		}
	}
}

// runFor polls for d and then waits for the poller to stop.
func (s *station) runFor(d time.Duration) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), d)
	defer cancel()
	if err := s.poller.Run(ctx); err != nil {
		s.Fatal(err)
	}
}

func (s *station) left() int {
	s.Helper()
	out, err := s.client.GetQueueAttributes(s.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &s.queue, AttributeNames: []types.QueueAttributeName{"All"}})
	if err != nil {
		s.Fatal(err)
	}
	visible, _ := strconv.Atoi(out.Attributes["ApproximateNumberOfMessages"])
	hidden, _ := strconv.Atoi(out.Attributes["ApproximateNumberOfMessagesNotVisible"])
	return visible + hidden
}

func reportFailed(ids ...string) (events.SQSEventResponse, error) {
	var response events.SQSEventResponse
	for _, id := range ids {
		response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: id})
	}
	return response, nil
}

func TestWhatAFunctionAnswersDecidesWhatStays(t *testing.T) {
	for name, row := range map[string]struct {
		function handler
		partial  bool
		left     int
	}{
		"success deletes the batch": {func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) { return reportFailed() }, true, 0},
		"an error keeps the batch": {func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
			return events.SQSEventResponse{}, errors.New("no")
		}, true, 3},
		"a panic keeps the batch": {func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) { panic("no") }, true, 3},
		"a timeout keeps the batch": {func(ctx context.Context, _ events.SQSEvent) (events.SQSEventResponse, error) {
			<-ctx.Done()
			return events.SQSEventResponse{}, nil
		}, true, 3},
		"a reported message stays, the others go": {func(_ context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
			return reportFailed(e.Records[1].MessageId)
		}, true, 1},
		"a report of an empty id keeps the batch": {func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) { return reportFailed("") }, true, 3},
		"a report of a stranger keeps the batch": {func(_ context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
			return reportFailed(e.Records[0].MessageId, "stranger")
		}, true, 3},
		"a report is not read unless partial failures are turned on": {func(_ context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
			return reportFailed(e.Records[1].MessageId)
		}, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStation(t, row.function)
				s.poller.PartialFailures = row.partial
				s.send(3)
				s.runFor(20 * time.Second)
				if left := s.left(); left != row.left {
					t.Errorf("%d messages are left, want %d (%v)", left, row.left, s.errs)
				}
			})
		})
	}
}

func TestFailedBatchComesBackAfterItsVisibility(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var seen []string
		s := newStation(t, func(_ context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
			seen = append(seen, fmt.Sprint(time.Since(begin), " ", e.Records[0].Attributes["ApproximateReceiveCount"]))
			return events.SQSEventResponse{}, errors.New("no")
		})
		s.send(1)
		s.runFor(65 * time.Second)
		if want := []string{"0s 1", "30s 2", "1m0s 3"}; !slices.Equal(seen, want) {
			t.Errorf("invoked at %q, want %q", seen, want)
		}
	})
}

func TestBatches(t *testing.T) {
	for name, row := range map[string]struct {
		size   int
		window time.Duration
		want   []int
	}{
		"are at most ten by default":                       {0, 0, []int{10, 10, 5}},
		"are at most as large as told":                     {4, 0, []int{4, 4, 4, 4, 4, 4, 1}},
		"with a window fill up over several receives":      {20, 2 * time.Second, []int{20, 5}},
		"with a window are sent off when the time is over": {100, 2 * time.Second, []int{25}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sizes []int
				s := newStation(t, func(_ context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
					sizes = append(sizes, len(e.Records))
					return events.SQSEventResponse{}, nil
				})
				s.poller.BatchSize, s.poller.BatchWindow, s.poller.MaxConcurrency = row.size, row.window, 1
				s.send(25)
				s.runFor(30 * time.Second)
				if !slices.Equal(sizes, row.want) || s.left() != 0 {
					t.Errorf("batches of %v with %d left, want %v", sizes, s.left(), row.want)
				}
			})
		})
	}
}

func TestConcurrency(t *testing.T) {
	for name, row := range map[string]struct {
		limit int
		ramp  bool
		most  int           // invocations at once in the first instant
		took  time.Duration // until the last began
	}{
		"is never exceeded":         {limit: 7, most: 7, took: 14 * time.Second},
		"is all there at once":      {limit: 100, most: 100, took: 0},
		"ramps up by five a second": {limit: 100, ramp: true, most: 5, took: 3200 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				begin, now, most, last := time.Now(), 0, 0, time.Time{}
				s := newStation(t, func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
					mu.Lock()
					if now, last = now+1, time.Now(); last.Equal(begin) || !row.ramp {
						most = max(most, now)
					}
					mu.Unlock()
					time.Sleep(time.Second)
					mu.Lock()
					now--
					mu.Unlock()
					return events.SQSEventResponse{}, nil
				})
				s.poller.MaxConcurrency, s.poller.BatchSize, s.poller.Ramp = row.limit, 1, row.ramp
				s.send(100)
				s.runFor(time.Minute)
				if most != row.most || last.Sub(begin) > row.took+5*time.Second || !row.ramp && last.Sub(begin) != row.took {
					t.Errorf("%d at once, the last after %v; want %d and %v", most, last.Sub(begin), row.most, row.took)
				}
				if s.left() != 0 {
					t.Errorf("%d messages are left", s.left())
				}
			})
		})
	}
}

func TestStoppingWaitsForWorkInHand(t *testing.T) {
	for name, row := range map[string]struct {
		grace time.Duration
		took  time.Duration
		left  int
	}{
		"up to its end without a grace":         {0, 4 * time.Second, 0},
		"and cuts it short when the grace ends": {time.Second, 2 * time.Second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				s := newStation(t, func(ctx context.Context, _ events.SQSEvent) (events.SQSEventResponse, error) {
					select {
					case <-time.After(4 * time.Second):
						return events.SQSEventResponse{}, nil
					case <-ctx.Done():
						return events.SQSEventResponse{}, ctx.Err()
					}
				})
				s.poller.Grace = row.grace
				s.send(1)
				s.runFor(time.Second)
				if took := time.Since(begin); took != row.took || s.left() != row.left {
					t.Errorf("stopped after %v with %d left, want %v and %d", took, s.left(), row.took, row.left)
				}
			})
		})
	}
}

func TestWrongMappingIsRefused(t *testing.T) {
	for name, change := range map[string]func(*platform.Poller){
		"visibility shorter than the timeout": func(p *platform.Poller) { p.Timeout = 31 * time.Second },
		"large batch without a window":        func(p *platform.Poller) { p.BatchSize = 11 },
		"batch of more than 10 000":           func(p *platform.Poller) { p.BatchSize, p.BatchWindow = 10_001, time.Second },
		"window of more than five minutes":    func(p *platform.Poller) { p.BatchWindow = 6 * time.Minute },
		"negative concurrency":                func(p *platform.Poller) { p.MaxConcurrency = -1 },
		"queue that is not there":             func(p *platform.Poller) { p.Queue += "-not" },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStation(t, nil)
				change(&s.poller)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if err := s.poller.Run(ctx); err == nil {
					t.Error("the poller ran")
				}
			})
		})
	}
}

func TestDayOfPollingAnEmptyQueueIsQuick(t *testing.T) {
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		newStation(t, nil).runFor(24 * time.Hour)
	})
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("a day took %v", took)
	}
}
