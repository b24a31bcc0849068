package schedule

import (
	"fmt"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestSlotsAreStableWholeSecondsBelowTheJitterAndEvenlySpread(t *testing.T) {
	const jitter, jobs, buckets = 600 * second, 6000, 12
	var counts [buckets]int
	for i := range jobs {
		ref := job.Ref{Tenant: "default", Job: fmt.Sprintf("report-%d", i)}
		slot := Slot(jitter, ref)
		if slot < 0 || slot >= jitter.Std() || slot%time.Second != 0 || Slot(jitter, ref) != slot {
			t.Fatalf("%v: slot %s", ref, slot)
		}
		counts[slot/(jitter.Std()/buckets)]++
	}
	for i, n := range counts {
		if n < jobs/buckets*8/10 || n > jobs/buckets*12/10 {
			t.Errorf("%d of %d jobs start in part %d of %d", n, jobs, i, buckets)
		}
	}
	// Slots are written down nowhere: a change of the hash would move every job.
	if got := Slot(jitter, job.Ref{Tenant: "default", Job: "nightly"}); got != pinnedSlot {
		t.Errorf("the slot of nightly is %s", got)
	}
	if Slot(0, job.Ref{Tenant: "default", Job: "nightly"}) != 0 || Slot(second, job.Ref{Tenant: "default", Job: "nightly"}) != 0 {
		t.Error("no jitter has a slot")
	}
	if Slot(jitter, job.Ref{Tenant: "a", Job: "x"}) == Slot(jitter, job.Ref{Tenant: "b", Job: "x"}) {
		t.Error("jobs of one name in two tenants share a slot")
	}
}

const pinnedSlot = 213 * time.Second

func TestJitterMovesTheStartAndNotTheScheduledTime(t *testing.T) {
	plan := compiled(t, job.Schedule{Cron: "0 3 * * *", Zone: "UTC", Jitter: 600 * second})
	after, ref := instantOf(t, "2026-07-12T00:00:00Z"), job.Ref{Tenant: "default", Job: "nightly"}
	for i, fire := range plan.Preview(after, 3, ref) {
		at := after.AddDate(0, 0, i).Add(3 * time.Hour)
		if !fire.At.Equal(at) || !fire.Start.Equal(at.Add(pinnedSlot)) || fire.Mark != "starts "+job.Duration(pinnedSlot).String()+" later, its jitter slot within 10m" {
			t.Errorf("got %+v", fire)
		}
	}
	if fire := plan.Preview(after, 1, job.Ref{})[0]; !fire.Start.Equal(fire.At) || fire.Mark != "starts up to 10m later, by the job's jitter slot" {
		t.Errorf("without a job: %+v", fire)
	}
	if got := plan.Describe(); got != "at 03:00, every day, UTC, each spread by a slot within 10m" {
		t.Errorf("described as %q", got)
	}
}

// An interval is anchored: what is asked, and when, never moves its phase.
func TestIntervalsNeverDriftAndBoundsAreInclusive(t *testing.T) {
	anchor := instantOf(t, "2026-07-12T00:00:07Z")
	plan := compiledFrom(t, job.Schedule{Every: 90 * second}, anchor)
	for _, after := range []string{"2026-07-12T00:00:00Z", "2026-07-13T11:22:33.5Z", "2031-01-01T00:00:00Z"} {
		next, ok := plan.Next(instantOf(t, after))
		if !ok || next.Sub(anchor)%(90*time.Second) != 0 || next.Sub(instantOf(t, after)) > 90*time.Second {
			t.Errorf("after %s: %s", after, next)
		}
	}
	start, end := instantOf(t, "2026-07-12T10:00:00Z"), instantOf(t, "2026-07-12T10:02:00Z")
	for what, s := range map[string]job.Schedule{
		"an interval": {Every: 60 * second, Start: start, End: end}, "a cron expression": {Cron: "* * * * *", Start: start, End: end},
	} {
		got := compiledFrom(t, s, anchor).Between(time.Time{}, instant(horizon), 0)
		if !sameTimes(got, []time.Time{start, start.Add(time.Minute), end}) {
			t.Errorf("%s: %v", what, got)
		}
	}
	if got := compiled(t, job.Schedule{At: start, Start: start, End: start}).Between(time.Time{}, instant(horizon), 0); !sameTimes(got, []time.Time{start}) {
		t.Errorf("one time: %v", got)
	}
}
