//go:build stack

package localstack

import (
	"context"
	"encoding/json"
	"reflect"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// The family: how many children, which of them fails for good, and by what the
// numbers of those can be divided that need a second attempt.
const (
	children = 300
	hopeless = 13
	twice    = 50
)

// gathered is what the execution that follows the children tells the receiver.
type gathered struct {
	Children, Failed, Seen, Sum int
	Missing                     []int
	Code                        string
}

// spreads fans out into children of which one may fail, and holds what came
// of each and of all against what they were told to do.
func (w town) spreads(ctx context.Context) {
	w.Helper()
	name := w.handled(ctx, "family", "spread", map[string]any{"receiver": w.receiver.url, "children": children, "hopeless": hopeless, "twice": twice})
	began := time.Now()
	parent := w.ended(ctx, w.run(ctx, name).ID)
	w.until(ctx, "all children have ended, and what follows them is there", func() bool {
		var err error
		if parent, err = w.api.Execution(ctx, parent.ID); err != nil || parent.FanOut == nil {
			w.Fatalf("%v: %+v", err, parent)
		}
		_, err = w.api.Execution(ctx, string(parent.FanOut.ReduceID))
		if err != nil && job.CodeOf(err) != job.CodeNotFound {
			w.Fatal(err)
		}
		return parent.FanOut.Ended && err == nil
	})
	reduce := w.ended(ctx, string(parent.FanOut.ReduceID))
	w.Logf("gathered after %s", time.Since(began).Round(time.Second))
	if f := parent.FanOut; f.Children != children || f.Failed != 1 || f.MayFail != 1 || !f.Made || !f.Ended || f.CanceledBy != "" {
		w.Errorf("the family is told as %+v", f)
	}
	if reduce.Kind != "reduce" || reduce.Attempt != 1 {
		w.Errorf("what follows the children took %d attempts as %s", reduce.Attempt, reduce.Kind)
	}
	w.gathers(name, reduce.ID)
	w.raised(ctx, parent.ID)
}

// gathers expects that the results came once, and are right.
func (w town) gathers(name, id string) {
	w.Helper()
	got := w.receiver.of(name)
	if len(got) != 1 || len(got[id]) != 1 {
		w.Fatalf("the results were told as %+v; want once, by %s", got, id)
	}
	want := gathered{Children: children, Failed: 1, Seen: children, Missing: []int{hopeless}, Code: "HOPELESS"}
	for n := range children {
		if n != hopeless {
			want.Sum += n * n
		}
	}
	var sum gathered
	if err := json.Unmarshal(got[id][0].body, &sum); err != nil || !reflect.DeepEqual(sum, want) {
		w.Errorf("%v: gathered %s; want %+v", err, got[id][0].body, want)
	}
}

// raised expects each child as it was told to end.
func (w town) raised(ctx context.Context, parent string) {
	w.Helper()
	n := 0
	for c, err := range client.Every("", func(cursor string) (client.Page[client.Execution], error) { return w.api.Children(ctx, parent, cursor) }) {
		if err != nil {
			w.Fatal(err)
		}
		status, attempts := job.Succeeded, 1
		switch {
		case n == hopeless:
			status = job.Failed
		case n%twice == 0:
			attempts = 2
		}
		if c.Status != status || c.Attempt != attempts || c.Lost != 0 || c.Kind != "child" {
			w.Errorf("child %d, %s, is %s after %d attempts, %d of them lost; want %s after %d", n, c.ID, c.Status, c.Attempt, c.Lost, status, attempts)
		}
		n++
	}
	if n != children {
		w.Errorf("%d children are listed; want %d", n, children)
	}
}
