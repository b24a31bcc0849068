package worker_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

// Each row's fences are in the order in which their owners may overwrite each other.
func TestAFenceSortsBehindThoseOfWhatItMayOverwrite(t *testing.T) {
	monday, tuesday := time.Date(2026, 7, 13, 1, 30, 0, 0, time.UTC), time.Date(2026, 7, 14, 1, 30, 0, 0, time.UTC)
	replay := func(created time.Time, token int64) workertest.Facts {
		return workertest.Facts{ScheduledAt: created, CreatedAt: created, FencingToken: token, ReplayOf: job.ID("test", job.ScheduledKey(monday), 1)}
	}
	for _, c := range []struct {
		name  string
		order []workertest.Facts
	}{
		{"attempts of one execution, beyond nine", []workertest.Facts{{FencingToken: 9}, {FencingToken: 10}, {FencingToken: 100}}},
		{"a first attempt behind three of the day before", []workertest.Facts{{ScheduledAt: monday, FencingToken: 3}, {ScheduledAt: tuesday, FencingToken: 1}}},
		{"a replay behind three attempts of what it repeats, and a second replay behind it", []workertest.Facts{
			{ScheduledAt: monday, FencingToken: 3}, replay(tuesday, 1), replay(tuesday.Add(time.Millisecond), 1)}},
		{"the next scheduled time behind a replay made after it", []workertest.Facts{replay(tuesday.Add(time.Hour), 2), {ScheduledAt: tuesday, FencingToken: 1}}},
		{"what ran on after a restore behind a replay that the restore has lost", []workertest.Facts{
			{ScheduledAt: monday, FencingToken: 2}, replay(tuesday, 1), {ScheduledAt: monday, FencingToken: job.RestoreBase(1) + 1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var fences []string
			for _, f := range c.order {
				fences = append(fences, workertest.Attempt(f).Fence())
			}
			if !slices.IsSorted(fences) || len(slices.Compact(slices.Clone(fences))) != len(fences) {
				t.Errorf("out of order, or not distinct:\n%s", strings.Join(fences, "\n"))
			}
		})
	}
}

// A collation may pass over points and dashes, or weigh letters first: with the
// same kind of character at each place that changes no order.
func TestFencesHaveOneShape(t *testing.T) {
	shape := func(text string) string {
		return strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return '9'
			}
			return r
		}, text)
	}
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(0, 4_102_444_800).Draw(t, "scheduled"), 0)
		key := job.SerialKey(job.KindManual, ulid.MustNew(ulid.Timestamp(at), strings.NewReader(rapid.StringN(16, 16, 64).Draw(t, "serial"))))
		e := &job.Execution{Ref: job.Ref{Tenant: "acme", Job: "x"}, Key: key, CreatedAt: time.UnixMilli(rapid.Int64Range(0, 4_102_444_800_000).Draw(t, "created")),
			FencingToken: rapid.Int64Range(0, job.RestoreBase(1<<30)).Draw(t, "token")}
		fence := worker.NewAttempt(&execute.Attempt{Execution: e}, nil).Fence()
		if want := "99999999T999999Z-9999999999-99999999T999999.999Z-9999999999-9999999999"; shape(fence) != want {
			t.Fatalf("%s is not of the shape %s", fence, want)
		}
	})
}

func TestTwoExecutionsOfOneMomentHaveTwoFences(t *testing.T) {
	at := time.Date(2026, 7, 13, 1, 30, 0, 0, time.UTC)
	seen := map[string]string{}
	for i := range 200 {
		facts := workertest.Facts{Job: fmt.Sprintf("job-%d", i), ScheduledAt: at}
		fence := workertest.Attempt(facts).Fence()
		if other, found := seen[fence]; found {
			t.Errorf("%s and %s write as one", other, facts.Job)
		}
		seen[fence] = facts.Job
	}
}
