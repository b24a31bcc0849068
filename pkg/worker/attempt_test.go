package worker_test

import (
	"testing"
	"time"

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
