package execute_test

import (
	"context"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// ended is a handler's answer.
func ended(f *lifecycle.Failure) execute.Work {
	return func(context.Context, *execute.Attempt) *lifecycle.Failure { return f }
}

func TestAnExecutionRemembersThatAnAttemptMayHaveTakenEffect(t *testing.T) {
	timeout := func(b *bench) { b.runs(forAWhile(time.Hour)) }
	lost := func(b *bench) { b.takenBy("w2"); time.Sleep(lease + margin) }
	for sentence, row := range map[string]struct {
		before []func(b *bench) // what each attempt before did
		doubt  bool             // at the last one
	}{
		"the first one has none":       {nil, false},
		"after a timeout there is":     {[]func(b *bench){timeout}, true},
		"after an error there is none": {[]func(b *bench){func(b *bench) { b.runs(ended(http503)) }}, false},
		"after one that cannot tell there is": {[]func(b *bench){func(b *bench) {
			b.runs(ended(&lifecycle.Failure{Class: lifecycle.UncertainClass, Code: "X", Confirmable: true}))
		}}, true},
		"after one that lost its worker there is": {[]func(b *bench){lost}, true},
		"an error later ends it":                  {[]func(b *bench){timeout, func(b *bench) { b.runs(ended(http503)) }}, false},
		"a worker that was told to stop tells nothing": {[]func(b *bench){timeout, func(b *bench) {
			b.runs(ended(&lifecycle.Failure{Class: lifecycle.StoppedClass, Code: "WORKER_STOPPED"}))
		}}, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			inBubble(t, nil, func(b *bench) {
				for _, before := range row.before {
					b.Work = nil
					if before(b); b.Work != nil {
						b.Process(b.Context(), b.delivery(b.message()))
						time.Sleep(time.Minute)
					}
				}
				var seen *job.Execution
				b.runs(func(_ context.Context, a *execute.Attempt) *lifecycle.Failure { seen = a.Execution; return nil })
				m := b.again()
				m.Isolated = true
				b.Process(b.Context(), b.delivery(m))
				if seen == nil || seen.Doubt != row.doubt {
					t.Errorf("the handler was told %+v, want doubt: %v", seen, row.doubt)
				}
			})
		})
	}
}

func TestWhatWasFoundDoneSaysSo(t *testing.T) {
	inBubble(t, nil, func(b *bench) {
		b.runs(func(_ context.Context, a *execute.Attempt) *lifecycle.Failure { a.FoundDone = true; return nil })
		if got := b.Process(b.Context(), b.delivery(b.message())); !got.Delete {
			t.Errorf("disposal %+v", got)
		}
		b.wantStatus(job.Succeeded, lifecycle.FoundDone)
	})
}

func TestWhatIsLeftToAPersonIsNeverTakenAgain(t *testing.T) {
	inBubble(t, nil, func(b *bench) {
		b.runs(ended(&lifecycle.Failure{Class: lifecycle.UncertainClass, Code: "BANK_SILENT", Text: "no answer"}))
		if got := b.Process(b.Context(), b.delivery(b.message())); !got.Delete || got.Err != nil {
			t.Errorf("disposal %+v", got)
		}
		e := b.wantStatus(job.NeedsReview, lifecycle.Uncertain)
		if e.ErrorCode != "BANK_SILENT" || !e.Lease.Until.IsZero() || !e.FinishedAt.IsZero() || !e.Wake.At.IsZero() {
			t.Errorf("it is %+v", e)
		}
		begun := 0
		b.runs(counts(&begun))
		time.Sleep(24 * time.Hour)
		if got := b.Process(b.Context(), b.delivery(b.again())); !got.Delete || begun != 0 {
			t.Errorf("disposal %+v, %d runs", got, begun)
		}
		if got := b.Redrive(b.Context(), b.again()); !got.Delete {
			t.Errorf("as a dead letter it is kept: %+v", got)
		}
		b.wantStatus(job.NeedsReview, lifecycle.Uncertain)
	})
}

func TestAHandlerThatCannotBeCanceledRunsToItsEnd(t *testing.T) {
	for sentence, row := range map[string]struct {
		ends   *lifecycle.Failure
		status job.Status
		reason job.Reason
	}{
		"and succeeds":                         {nil, job.Succeeded, lifecycle.Done},
		"and is not tried again when it fails": {http503, job.Canceled, lifecycle.CancelRequested},
	} {
		t.Run(sentence, func(t *testing.T) {
			inBubble(t, nil, func(b *bench) {
				b.Uncancelable = func(d job.Definition) bool { return d.Job == "nightly" }
				time.AfterFunc(7*time.Second, b.cancel)
				b.runs(func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
					<-a.Canceled
					if b.since() != 10*time.Second {
						t.Errorf("told at %v, want the next heartbeat", b.since())
					}
					time.Sleep(20 * time.Second)
					if ctx.Err() != nil {
						t.Errorf("its context ended: %v", context.Cause(ctx))
					}
					if e := b.stored(); e.Cancel == nil || !e.Cancel.Declined {
						t.Errorf("the request is %+v, want it declined", e.Cancel)
					}
					return row.ends
				})
				if got := b.Process(b.Context(), b.delivery(b.message())); !got.Delete {
					t.Errorf("disposal %+v", got)
				}
				b.wantStatus(row.status, row.reason)
			})
		})
	}
}
