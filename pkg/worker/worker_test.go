package worker_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

func TestOptionsAreRefusedByName(t *testing.T) {
	rows := map[string]struct {
		change func(*worker.Options)
		field  string // "" = accepted
	}{
		"all there is":               {func(*worker.Options) {}, ""},
		"no log, no drain, no lease": {func(o *worker.Options) { o.Pools[0] = worker.Pool{Name: "fast-io"} }, ""},
		"no queue":                   {func(o *worker.Options) { o.Queue = nil }, "worker.Queue"},
		"no plane":                   {func(o *worker.Options) { o.Execution = nil }, "worker.Execution"},
		"no store":                   {func(o *worker.Options) { o.Execution.Executions = nil }, "worker.Execution.Executions"},
		"no definitions":             {func(o *worker.Options) { o.Execution.Definitions = nil }, "worker.Execution.Definitions"},
		"no owner":                   {func(o *worker.Options) { o.Execution.Owner = "" }, "worker.Execution.Owner"},
		"no nonce":                   {func(o *worker.Options) { o.Execution.Nonce = nil }, "worker.Execution.Nonce"},
		"no spread":                  {func(o *worker.Options) { o.Execution.Spread = nil }, "worker.Execution.Spread"},
		"no pool":                    {func(o *worker.Options) { o.Pools = nil }, "worker.Pools"},
		"a pool without name":        {func(o *worker.Options) { o.Pools[0].Name = "" }, "worker.Pools.Name"},
		"negative slots":             {func(o *worker.Options) { o.Pools[0].Slots = -1 }, "worker.Pools.Slots"},
		"negative waiting places":    {func(o *worker.Options) { o.Pools[0].Waiting = -1 }, "worker.Pools.Waiting"},
		"a lease below a second":     {func(o *worker.Options) { o.Pools[0].Lease = time.Millisecond }, "worker.Pools.Lease"},
		"a negative drain":           {func(o *worker.Options) { o.Drain = -time.Second }, "worker.Drain"},
		"a pool twice":               {func(o *worker.Options) { o.Pools = append(o.Pools, o.Pools[0]) }, "pool"},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, nil)
				o := worker.Options{Queue: b.Queues, Execution: b.Execute(nil), Pools: []worker.Pool{{Name: "fast-io", Slots: 4}}}
				row.change(&o)
				_, err := worker.New(o)
				var refusal *job.Error
				if row.field == "" && err != nil || row.field != "" && (!errors.As(err, &refusal) || refusal.Field != row.field) {
					t.Fatalf("%v, want a refusal of %q", err, row.field)
				}
			})
		})
	}
}
