package worker_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

func TestIdempotencyKeyIsThatOfTheBusinessAction(t *testing.T) {
	const first = "acme/billing~20260712T013000Z"
	rows := map[string]struct {
		facts workertest.Facts
		same  bool
	}{
		"another attempt":            {workertest.Facts{Number: 5, FencingToken: 12}, true},
		"another revision":           {workertest.Facts{Revision: 9}, true},
		"a replay of it":             {workertest.Facts{ScheduledAt: time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC), ReplayOf: "billing~20260712T013000Z~v2"}, true},
		"another scheduled time":     {workertest.Facts{ScheduledAt: time.Date(2026, 7, 13, 1, 30, 0, 0, time.UTC)}, false},
		"a replay of another time":   {workertest.Facts{ReplayOf: "billing~20260711T013000Z~v2"}, false},
		"a replay of who knows what": {workertest.Facts{ReplayOf: "nothing"}, true},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			row.facts.Tenant, row.facts.Job = "acme", "billing"
			if got := workertest.Attempt(row.facts).IdempotencyKey(); (got == first) != row.same {
				t.Errorf("key %s; same as %s: want %v", got, first, row.same)
			}
		})
	}
}

func TestTraceOfTheSenderGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		var got string
		worker.Handle(b.worker, "work", func(_ context.Context, a *worker.Attempt) error { got = a.Traceparent(); return nil })
		at := soon(200 * time.Second)
		ref := b.oneOff("traced", at, nil)
		e, err := b.Control.RunNow(t.Context(), control.RunRequest{Ref: ref, Actor: "test"})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range drain(t, b) {
			_ = b.Queues.Queue("belfry-fast-io").Delete(t.Context(), m.Handle)
		}
		const sent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
		b.put("belfry-fast-io", `{"schema":1,"tenant":"default","job":"traced","key":"`+e.Key.String()+`","epoch":1,"traceparent":"`+sent+`"}`)
		b.start()
		time.Sleep(time.Second)
		b.quit()
		if !strings.HasPrefix(got, sent[:36]) || !strings.HasSuffix(got, "-01") || got == sent {
			t.Errorf("handed on %q, want the trace of %q with a span of its own; execution %s is %s", got, sent, e.ID(), stateOf(b, ref, e.Key))
		}
	})
}

func stateOf(b *bench, ref job.Ref, key job.Key) job.Status {
	e, err := b.Store.Execution(b.Context(), ref, key)
	if err != nil || e == nil {
		return ""
	}
	return e.Status
}
