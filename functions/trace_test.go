package functions_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// TestTheTraceOfAnExecutionIsFoundByItsID goes through a failure and a lost
// worker: whoever runs an attempt, in whatever queue its message lay, is in the
// trace that can be computed from the execution, under a span of its own.
func TestTheTraceOfAnExecutionIsFoundByItsID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		at := time.Now().Add(30 * time.Second)
		ref := w.put(job.Definition{Job: "traced", Schedule: job.Schedule{At: at}, Retry: job.Retry{MaxAttempts: 5, Base: job.Duration(time.Second)}}, "note")
		w.lose(at, at.Add(16*time.Second))
		var traces, ids []string
		w.run(5*time.Minute, map[string]worker.Handler{"note": func(_ context.Context, a *worker.Attempt) error {
			traces, ids = append(traces, a.Traceparent()), append(ids, a.ExecutionID())
			if a.Number() < 3 {
				return errors.New("not yet")
			}
			return nil
		}})
		e := w.executions(ref)[0]
		if e.Status != job.Succeeded || e.Lost == 0 || len(traces) < 3 {
			t.Fatalf("it is %s after %d calls, %d lost; the test needs a loss and a retry", e.Status, len(traces), e.Lost)
		}
		own := sha256.Sum256([]byte(job.IdempotencyKey(e.Ref, e.Key)))
		spans := map[string]bool{}
		for n, trace := range traces {
			parts := strings.Split(trace, "-")
			if len(parts) != 4 || parts[0] != "00" || parts[1] != hex.EncodeToString(own[:16]) || parts[3] != "01" || ids[n] != e.ID() {
				t.Errorf("attempt %d of %s handed on %s, want the trace %x, sampled", n+1, ids[n], trace, own[:16])
			}
			spans[parts[2]] = true
		}
		if len(spans) != len(traces) {
			t.Errorf("%d attempts had %d spans", len(traces), len(spans))
		}
	})
}
