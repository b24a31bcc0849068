package execute_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/oklog/ulid/v2"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/objects"
)

// keeps gives the plane its checkpoints, and the bucket for large ones.
func (b *bench) keeps() *s3.Client {
	b.Helper()
	client := s3.NewFromConfig(b.backend.Config())
	if _, err := client.CreateBucket(b.Context(), &s3.CreateBucketInput{Bucket: aws.String("belfry")}); err != nil {
		b.Fatal(err)
	}
	b.Checkpoints, b.Objects = b.store, objects.New(client, "belfry")
	return client
}

// names lists what lies in the bucket.
func (b *bench) names(client *s3.Client) (all []string) {
	b.Helper()
	out, err := client.ListObjectsV2(b.Context(), &s3.ListObjectsV2Input{Bucket: aws.String("belfry")})
	if err != nil {
		b.Fatal(err)
	}
	for _, o := range out.Contents {
		all = append(all, *o.Key)
	}
	return all
}

// attempts lets each of these handlers run one attempt, the next on the message of
// the one before.
func (b *bench) attempts(handlers ...execute.Work) {
	b.Helper()
	m := b.message()
	for _, h := range handlers {
		b.runs(h)
		b.Process(b.Context(), b.delivery(m))
		time.Sleep(time.Minute)
		m = b.again()
	}
}

func TestTheNextAttemptGoesOnFromWhatWasSaved(t *testing.T) {
	small, large := []byte(`{"page":700}`), bytes.Repeat([]byte("a page of it "), 30_000)
	for sentence, row := range map[string]struct{ saved, again []byte }{
		"nothing":                       {nil, nil},
		"a little, in the table":        {small, nil},
		"just what the table takes":     {bytes.Repeat([]byte{0}, job.InlineCheckpoint), nil},
		"a byte more, in the bucket":    {bytes.Repeat([]byte{0}, job.InlineCheckpoint+1), nil},
		"much, in the bucket":           {large, nil},
		"much, then a little":           {large, small},
		"a little, then much":           {small, large},
		"much, and again":               {large, append(large, 1)},
		"an empty one":                  {[]byte{}, nil},
		"what is larger than a message": {bytes.Repeat([]byte("x"), 401<<10), nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			inBubble(t, nil, func(b *bench) {
				client := b.keeps()
				want := row.saved
				b.attempts(func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
					for _, content := range [][]byte{row.saved, row.again} {
						if content == nil {
							continue
						}
						want = content
						if err := a.Progress.Save(ctx, content); err != nil {
							t.Errorf("saved: %v", err)
						}
					}
					return http503
				}, func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
					got, found, err := a.Progress.Load(ctx)
					if err != nil || found != (want != nil) || !bytes.Equal(got, want) {
						t.Errorf("%d bytes, %v, %v; want %d", len(got), found, err, len(want))
					}
					return nil
				})
				if e := b.wantStatus(job.Succeeded, lifecycle.Done); e.Attempt != 2 {
					t.Errorf("%d attempts", e.Attempt)
				}
				if most := len(want) / (job.InlineCheckpoint + 1); len(b.names(client)) != min(most, 1) {
					t.Errorf("the bucket holds %v", b.names(client))
				}
			})
		})
	}
}

func TestAWorkerThatWasFrozenBeyondItsLeaseSavesNothing(t *testing.T) {
	inBubble(t, long, func(b *bench) {
		b.keeps()
		stale := job.Checkpoint{Ref: nightly, Key: job.ScheduledKey(b.begun), Token: 1, At: time.Now(), Content: []byte("old"), Size: 3}
		thawed := make(chan struct{})
		b.runs(func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
			if err := a.Progress.Save(ctx, []byte("mine")); err != nil {
				t.Errorf("while it holds the lease: %v", err)
			}
			<-thawed
			if err := a.Progress.Save(ctx, []byte("old")); !errors.Is(err, execute.ErrLeaseLost) {
				t.Errorf("after it: %v", err)
			}
			if _, _, err := a.Progress.Load(ctx); !errors.Is(err, execute.ErrLeaseLost) {
				t.Errorf("it loads: %v", err)
			}
			if !errors.Is(context.Cause(ctx), execute.ErrLeaseLost) {
				t.Errorf("its context says %v", context.Cause(ctx))
			}
			return nil
		})
		b.beat = func(ctx context.Context, _ *job.Execution, _ time.Time) (*job.Execution, error) { // frozen: no heartbeat leaves it
			<-ctx.Done()
			return nil, ctx.Err()
		}
		time.AfterFunc(lease+margin, func() {
			seen := b.stored()
			now := time.Now()
			taken, err := b.store.Claim(b.Context(), job.ClaimRequest{Ref: nightly, Key: seen.Key, Epoch: 1, Owner: "w2", Nonce: "w2", Now: now, Until: now.Add(time.Hour), Seen: seen})
			if err != nil {
				t.Error(err)
				return
			}
			c, err := b.store.FenceCheckpoint(b.Context(), nightly, seen.Key, taken.FencingToken, now)
			if err != nil || string(c.Content) != "mine" || c.SavedBy != 1 {
				t.Errorf("the taker loads %+v, %v", c, err)
			}
			// What still hangs in the network comes in late, and is refused by its token.
			if err := b.store.SaveCheckpoint(b.Context(), &stale); !errors.Is(err, job.ErrLost) {
				t.Errorf("a late save: %v", err)
			}
			close(thawed)
		})
		if got := b.Process(b.Context(), b.delivery(b.message())); got.Delete {
			t.Errorf("disposal %+v", got)
		}
		if c, err := b.store.Checkpoint(b.Context(), nightly, job.ScheduledKey(b.begun)); err != nil || string(c.Content) != "mine" || c.Token != 2 {
			t.Errorf("in the end it is %+v, %v", c, err)
		}
		if e := b.stored(); e.Status != job.Running || e.FencingToken != 2 {
			t.Errorf("the taker's execution is %s, token %d", e.Status, e.FencingToken)
		}
	})
}

func TestASaveThatANewerAttemptHasOvertakenEndsTheOlderOne(t *testing.T) {
	inBubble(t, long, func(b *bench) {
		b.keeps()
		b.runs(func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
			if _, err := b.store.FenceCheckpoint(ctx, nightly, a.Execution.Key, 2, time.Now()); err != nil {
				t.Error(err)
			}
			if err := a.Progress.Save(ctx, []byte("old")); !errors.Is(err, execute.ErrLeaseLost) || !errors.Is(context.Cause(ctx), execute.ErrLeaseLost) {
				t.Errorf("it answers %v, and its context says %v", err, context.Cause(ctx))
			}
			return nil
		})
		if got := b.Process(b.Context(), b.delivery(b.message())); got.Delete || !errors.Is(got.Err, execute.ErrLeaseLost) {
			t.Errorf("disposal %+v", got)
		}
	})
}

func TestAHandlerThatGoesOnAfterItsAttemptSavesNothing(t *testing.T) {
	inBubble(t, nil, func(b *bench) {
		b.keeps()
		var kept *execute.Progress
		b.runs(func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
			kept = a.Progress
			if err := kept.Save(ctx, []byte("before")); err != nil {
				t.Error(err)
			}
			return nil
		})
		b.Process(b.Context(), b.delivery(b.message()))
		if err := kept.Save(t.Context(), []byte("after")); !errors.Is(err, execute.ErrLeaseLost) {
			t.Errorf("it answers %v", err)
		}
	})
}

func TestPB143ARejectedCheckpointLeavesTheAttemptAsItWas(t *testing.T) {
	for sentence, row := range map[string]struct {
		bucket bool
		size   int
		bound  string
	}{
		"larger than the bucket takes":            {true, job.MaxCheckpoint + 1, "16777216 bytes"},
		"larger than the table, without a bucket": {false, job.InlineCheckpoint + 1, "4096 bytes"},
	} {
		t.Run(sentence, func(t *testing.T) {
			inBubble(t, nil, func(b *bench) {
				b.keeps()
				if !row.bucket {
					b.Objects = nil
				}
				b.attempts(func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
					var refused *job.Error
					if err := a.Progress.Save(ctx, make([]byte, row.size)); !errors.As(err, &refused) || refused.Code != job.CodeTooLarge || refused.Bound != row.bound || refused.Fix == "" {
						t.Errorf("it answers %v", err)
					}
					select {
					case <-time.After(20 * time.Second): // and heartbeats go on
					case <-ctx.Done():
						t.Errorf("the attempt ended: %v", context.Cause(ctx))
					}
					if err := a.Progress.Save(ctx, []byte("less")); err != nil {
						t.Errorf("a smaller one: %v", err)
					}
					return &lifecycle.Failure{Class: lifecycle.PermanentClass, Code: "X", Text: strings.Repeat("long ", 1<<18)}
				})
				if e := b.wantStatus(job.Failed, lifecycle.Permanent); len(e.ErrorText) > 240 {
					t.Errorf("%d bytes of its error are kept", len(e.ErrorText))
				}
			})
		})
	}
}

func TestPB115AReplayGoesOnFromTheCheckpointUnlessItBeginsFromScratch(t *testing.T) {
	for sentence, row := range map[string]struct {
		scratch bool
		found   string
	}{"by itself it goes on": {false, "700 of 1000"}, "from scratch it does not": {true, ""}} {
		t.Run(sentence, func(t *testing.T) {
			inBubble(t, func(d *job.Definition) { d.Retry.MaxAttempts = 1 }, func(b *bench) {
				b.keeps()
				b.attempts(func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
					if err := a.Progress.Save(ctx, []byte("700 of 1000")); err != nil {
						t.Error(err)
					}
					return http503
				})
				dead := b.wantStatus(job.Dead, lifecycle.AttemptsUsedUp)
				again := b.replay(dead, row.scratch)
				ran := 0
				for i, want := range []string{row.found, "900 of 1000"} { // of its own attempts the second knows what the first saved
					b.runs(func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
						ran++
						got, found, err := a.Progress.Load(ctx)
						if err != nil || found != (want != "") || string(got) != want {
							t.Errorf("attempt %d loads %q, %v, %v; want %q", i+1, got, found, err, want)
						}
						if err := a.Progress.Save(ctx, []byte("900 of 1000")); err != nil {
							t.Error(err)
						}
						return &lifecycle.Failure{Class: lifecycle.StoppedClass}
					})
					m := b.message()
					m.Key, m.Receives = again, 1+i
					if got := b.Process(b.Context(), b.delivery(m)); ran != i+1 {
						t.Errorf("%d runs, disposal %+v", ran, got)
					}
				}
				if c, err := b.store.Checkpoint(b.Context(), nightly, dead.Key); err != nil || string(c.Content) != "700 of 1000" {
					t.Errorf("what was repeated has %+v, %v", c, err)
				}
			})
		})
	}
}

// replay puts a replay of e, as the control plane does.
func (b *bench) replay(e *job.Execution, scratch bool) job.Key {
	b.Helper()
	key := job.SerialKey(job.KindReplay, ulid.MustNew(ulid.Timestamp(time.Now()), bytes.NewReader(make([]byte, 16))))
	if _, err := b.store.Put(b.Context(), &job.Execution{Ref: nightly, Key: key, Revision: 1, Epoch: 1, Status: job.Scheduled, Pool: "fast-io",
		CreatedAt: time.Now(), AvailableAt: time.Now(), Reason: lifecycle.Replayed, Schema: job.Schema, ReplayOf: e.ID(), FromScratch: scratch}); err != nil {
		b.Fatal(err)
	}
	return key
}
