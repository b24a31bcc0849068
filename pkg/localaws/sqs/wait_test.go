package sqs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/localaws/sqs"
)

func TestLongPollIsWoken(t *testing.T) {
	type poll struct {
		before func(*bench) // before the poll begins
		during func(*bench) // beside the poll
		after  time.Duration
	}
	for name, row := range map[string]poll{
		"at once when there is a message": {
			before: func(b *bench) { b.send("ready", 0) },
		},
		"by a send": {
			during: func(b *bench) { time.Sleep(time.Second); b.send("sent", 0) },
			after:  time.Second,
		},
		"by the end of a delay": {
			before: func(b *bench) { b.send("late", 7) },
			after:  7 * time.Second,
		},
		"by a later send whose delay ends first": {
			before: func(b *bench) { b.send("nine", 9) },
			during: func(b *bench) { time.Sleep(time.Second); b.send("five", 4) },
			after:  5 * time.Second,
		},
		"by the end of a visibility": {
			before: func(b *bench) { b.send("again", 0); b.one(b.queue) },
			after:  11 * time.Second,
		},
		"by a visibility that is given back": {
			before: func(b *bench) { b.send("again", 0); b.handle = *b.one(b.queue).ReceiptHandle },
			during: func(b *bench) { time.Sleep(3 * time.Second); b.change(b.handle, 0) },
			after:  3 * time.Second,
		},
		"by a visibility that is shortened": {
			before: func(b *bench) { b.send("again", 0); b.handle = *b.one(b.queue).ReceiptHandle },
			during: func(b *bench) { time.Sleep(2 * time.Second); b.change(b.handle, 4) },
			after:  6 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, localaws.Options{}, map[string]string{"VisibilityTimeout": "11"})
				if row.before != nil {
					row.before(b)
				}
				var beside sync.WaitGroup
				if row.during != nil {
					beside.Go(func() { row.during(b) })
				}
				start := time.Now()
				b.one(b.queue)
				if took := time.Since(start); took != row.after {
					t.Errorf("the poll ended after %v, want %v", took, row.after)
				}
				beside.Wait()
			})
		})
	}
}

func TestEveryWaitingPollGetsItsMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, localaws.Options{}, nil)
		const polls = 20
		got := make(chan string, polls)
		for range polls {
			go func() {
				out, err := b.ReceiveMessage(t.Context(), &sdk.ReceiveMessageInput{QueueUrl: &b.queue, WaitTimeSeconds: 20})
				if err != nil || len(out.Messages) != 1 {
					t.Errorf("poll got %v, %v", out, err)
					got <- ""
					return
				}
				got <- *out.Messages[0].Body
			}()
		}
		synctest.Wait()
		for i := range polls {
			b.send(fmt.Sprint(i), 5) // all become visible in the same instant
		}
		start := time.Now()
		seen := make(map[string]bool)
		for range polls {
			seen[<-got] = true
		}
		if len(seen) != polls || time.Since(start) != 5*time.Second {
			t.Fatalf("%d different messages after %v, want %d after 5s", len(seen), time.Since(start), polls)
		}
	})
}

func TestCancelledPollHandsItsTurnOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, localaws.Options{}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		cancelled := make(chan error, 1)
		go func() {
			_, err := b.ReceiveMessage(ctx, &sdk.ReceiveMessageInput{QueueUrl: &b.queue, WaitTimeSeconds: 20})
			cancelled <- err
		}()
		synctest.Wait()
		second := make(chan int, 1)
		go func() { second <- len(b.receive(b.queue)) }()
		synctest.Wait()
		cancel()
		if err := <-cancelled; !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled poll returned %v, want context.Canceled", err)
		}
		b.send("for whoever is left", 0)
		start := time.Now()
		if n := <-second; n != 1 || time.Since(start) != 0 {
			t.Fatalf("the other poll got %d messages after %v, want 1 at once", n, time.Since(start))
		}
	})
}

// TestPollCancelledWhileWokenHandsItsTurnOn cancels a poll in the instant in
// which a send wakes it, often enough to meet every order of the two.
func TestPollCancelledWhileWokenHandsItsTurnOn(t *testing.T) {
	const poll = `{"QueueUrl":"http://x/000000000000/q","WaitTimeSeconds":20,"VisibilityTimeout":0}`
	synctest.Test(t, func(t *testing.T) {
		service, err := sqs.New(nil, sqs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		call := func(ctx context.Context, operation, body string) bool {
			out, err := service.ServeOperation(ctx, operation, []byte(body))
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			return strings.Contains(string(out), "ReceiptHandle")
		}
		call(t.Context(), "CreateQueue", `{"QueueName":"q","Attributes":{"MessageRetentionPeriod":"60"}}`)
		for range 300 {
			ctx, cancel := context.WithCancel(t.Context())
			got := make(chan bool, 2)
			go func() { got <- call(ctx, "ReceiveMessage", poll) }()
			synctest.Wait()
			go func() { got <- call(t.Context(), "ReceiveMessage", poll) }()
			synctest.Wait()
			begin := time.Now()
			call(t.Context(), "SendMessage", `{"QueueUrl":"http://x/000000000000/q","MessageBody":"x"}`)
			cancel()
			if first, second := <-got, <-got; !first && !second || time.Since(begin) != 0 {
				t.Fatalf("the message went to nobody, or late: after %v", time.Since(begin))
			}
			time.Sleep(time.Minute) // the message expires
		}
	})
}

func TestPollEndsWhenItsQueueOrItsBackendGoes(t *testing.T) {
	for name, row := range map[string]struct {
		end  func(*bench) error
		code string
	}{
		"deleted queue": {func(b *bench) error {
			_, err := b.DeleteQueue(b.Context(), &sdk.DeleteQueueInput{QueueUrl: &b.queue})
			return err
		}, "AWS.SimpleQueueService.NonExistentQueue"},
		"closed backend": {func(b *bench) error { return b.backend.Close() }, "ServiceUnavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, localaws.Options{}, nil)
				ended := make(chan error, 1)
				go func() {
					_, err := b.ReceiveMessage(t.Context(), &sdk.ReceiveMessageInput{QueueUrl: &b.queue, WaitTimeSeconds: 20},
						func(o *sdk.Options) { o.RetryMaxAttempts = 1 })
					ended <- err
				}()
				synctest.Wait()
				if err := row.end(b); err != nil {
					t.Fatal(err)
				}
				wantCode(t, <-ended, row.code)
			})
		})
	}
}

func TestDayOfEmptyPollsIsQuick(t *testing.T) {
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, localaws.Options{}, nil)
		start := time.Now()
		for time.Since(start) < 24*time.Hour {
			if n := len(b.receive(b.queue)); n != 0 {
				t.Fatalf("received %d messages from an empty queue", n)
			}
		}
		if time.Since(start) != 24*time.Hour {
			t.Fatalf("a day of 20 s polls took %v", time.Since(start))
		}
	})
	if took := time.Since(began); took > 5*time.Second {
		t.Fatalf("a day of polls took %v of real time; something polls or spins", took)
	}
}
