package functions_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// TestTheTraceOfAnExecutionIsFoundByItsID goes through a failure and a lost
// worker while nothing is exported: whoever runs an attempt, in whatever queue its
// message lay, hands on the trace that can be computed from the execution.
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
		seen := map[string]bool{}
		for n, trace := range traces {
			parts := strings.Split(trace, "-")
			if len(parts) != 4 || parts[0] != "00" || len(parts[1]) != 32 || parts[1][:8] != strconv.FormatInt(e.ScheduledAt.Unix(), 16) ||
				parts[1][16:] != hex.EncodeToString(own[:8]) || parts[3] != "01" || ids[n] != e.ID() {
				t.Errorf("attempt %d of %s handed on %s, want a trace of %x that ends in %x, sampled", n+1, ids[n], trace, e.ScheduledAt.Unix(), own[:8])
			}
			seen[parts[1]], seen[parts[2]] = true, true
		}
		if len(seen) != 2*len(traces) {
			t.Errorf("%d attempts had %d traces and spans: %v", len(traces), len(seen), traces)
		}
	})
}
