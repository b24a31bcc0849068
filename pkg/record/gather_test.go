package record_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/record"
)

var noon = time.Date(2026, 7, 12, 12, 0, 0, 0, time.UTC)

// execution is the one of a job of a tenant ("tenant/job") at a second after
// noon, in a status.
func execution(of string, second int, status job.Status) *job.Execution {
	tenant, name, _ := strings.Cut(of, "/")
	e := &job.Execution{Ref: job.Ref{Tenant: tenant, Job: name}, Key: job.ScheduledKey(noon.Add(time.Duration(second) * time.Second)), Status: status}
	e.Timeline = entries(0, 1)
	if lifecycle.Terminal(status) {
		e.FinishedAt = noon.Add(time.Hour)
	}
	return e
}

// entries are those at places from … to-1 of one whole timeline.
func entries(from, to int) []job.Entry {
	var all []job.Entry
	for n := from; n < to; n++ {
		all = append(all, job.Entry{At: noon.Add(time.Duration(n) * time.Minute), To: job.RetryWait, Attempt: n})
	}
	return all
}

func inserted(id string, e *job.Execution) record.Change {
	return record.Change{ID: id, Inserted: true, New: e}
}

func modified(id string, before, after *job.Execution) record.Change {
	return record.Change{ID: id, Old: before, New: after}
}

// lines say what notes hold, one line each.
func lines(notes []record.Note) []string {
	var said []string
	for _, n := range notes {
		switch {
		case n.Recent != nil:
			line := fmt.Sprintf("%d page %s %s %s:", n.First, n.Recent.Mark, n.Recent.Tenant, n.Recent.Minute.Format("15:04"))
			for _, e := range n.Recent.Entries {
				line += " " + e.Ref.Job + "|" + e.Key.String()
			}
			said = append(said, line)
		case n.Attention != nil:
			said = append(said, fmt.Sprintf("%d attention %s %s %s", n.First, n.Attention.Execution.Job, n.Attention.Execution.Status, n.Attention.At.Format("15:04")))
		case n.History != nil:
			said = append(said, fmt.Sprintf("%d history %s place %d attempt %d", n.First, n.History.Execution.Job, n.History.Place, n.History.Entry.Attempt))
		}
	}
	return said
}

func TestGather(t *testing.T) {
	carries := func(dropped int, timeline ...job.Entry) *job.Execution {
		e := execution("a/x", 0, job.RetryWait)
		e.Dropped, e.Timeline = dropped, timeline
		return e
	}
	manual := execution("a/x", 0, job.Scheduled)
	manual.Key = job.SerialKey(job.KindManual, ulid.MustNew(ulid.Timestamp(noon.Add(7*time.Second)), strings.NewReader(strings.Repeat("x", 10))))
	ranged := execution("a/x", 0, job.Missed)
	ranged.Key = job.RangeKey(noon)
	for _, c := range []struct {
		name    string
		changes []record.Change
		want    []string
	}{
		{"new executions of one tenant and minute share a page, named by the first record",
			[]record.Change{inserted("r1", execution("a/x", 5, job.Scheduled)), inserted("r2", execution("a/y", 59, job.Scheduled))},
			[]string{"0 page r1 a 12:00: x|20260712T120005Z#s y|20260712T120059Z#s"}},
		{"another minute and another tenant have pages of their own",
			[]record.Change{inserted("r1", execution("a/x", 5, job.Scheduled)), inserted("r2", execution("a/x", 60, job.Scheduled)),
				inserted("r3", execution("b/x", 6, job.Scheduled)), inserted("r4", execution("a/x", 6, job.Scheduled))},
			[]string{"0 page r1 a 12:00: x|20260712T120005Z#s x|20260712T120006Z#s", "1 page r2 a 12:01: x|20260712T120100Z#s", "2 page r3 b 12:00: x|20260712T120006Z#s"}},
		{"a manual run lies in the minute in which it was asked for",
			[]record.Change{inserted("r1", manual)}, []string{"0 page r1 a 12:00: x|" + manual.Key.String()}},
		{"the record of a range lies in the minute in which the range begins, and needs nobody",
			[]record.Change{inserted("r1", ranged)}, []string{"0 page r1 a 12:00: x|20260712T120000Z#x"}},
		{"a change that leaves the state as it is leaves nothing to write",
			[]record.Change{modified("r1", execution("a/x", 0, job.Running), execution("a/x", 0, job.Running)),
				modified("r2", execution("a/x", 0, job.Dead), execution("a/x", 0, job.Dead))}, nil},
		{"what a newer life makes again is on its page already",
			[]record.Change{modified("r1", execution("a/x", 0, job.Withdrawn), execution("a/x", 0, job.Scheduled))}, nil},
		{"a removed execution and an item that is none leave nothing to write",
			[]record.Change{{ID: "r1", Old: execution("a/x", 0, job.Dead)}, {ID: "r2", Inserted: true}}, nil},
		{"a dead letter needs a person since its end",
			[]record.Change{modified("r1", execution("a/x", 0, job.Running), execution("a/x", 0, job.Dead)),
				modified("r2", execution("a/y", 0, job.Running), execution("a/y", 0, job.Failed)),
				modified("r3", execution("a/z", 0, job.Running), execution("a/z", 0, job.Succeeded))},
			[]string{"0 attention x DEAD 13:00", "1 attention y FAILED 13:00"}},
		{"a review needs a person since its last entry, and its outcome is news again",
			[]record.Change{modified("r1", execution("a/x", 0, job.Running), execution("a/x", 0, job.NeedsReview)),
				modified("r2", execution("a/x", 0, job.NeedsReview), execution("a/x", 0, job.Failed))},
			[]string{"0 attention x NEEDS_REVIEW 12:00", "1 attention x FAILED 13:00"}},
		{"entries that fell out keep their place in the whole timeline",
			[]record.Change{modified("r1", carries(0, entries(0, 6)...), carries(2, slices.Concat(entries(0, 2), entries(4, 7))...)),
				modified("r2", carries(2, slices.Concat(entries(0, 2), entries(4, 7))...), carries(3, slices.Concat(entries(0, 2), entries(5, 8))...))},
			[]string{"0 history x place 2 attempt 2", "0 history x place 3 attempt 3", "1 history x place 4 attempt 4"}},
		{"a count of dropped entries that the old image cannot explain is not believed",
			[]record.Change{modified("r1", carries(0, entries(0, 3)...), carries(9, entries(0, 3)...)), modified("r2", carries(5, entries(0, 3)...), carries(0, entries(0, 3)...))},
			[]string{"0 history x place 2 attempt 2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			notes := record.Gather(c.changes)
			if got := lines(notes); !slices.Equal(got, c.want) {
				t.Errorf("notes are\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
			}
			if again := record.Gather(c.changes); !reflect.DeepEqual(again, notes) {
				t.Error("the same changes gave other notes")
			}
		})
	}
}

func TestNoPageGrowsBeyondWhatTheTableTakes(t *testing.T) {
	var changes []record.Change
	for n := range 1200 {
		changes = append(changes, inserted(fmt.Sprintf("r%d", n), execution(fmt.Sprintf("a/%s%d", strings.Repeat("x", 58), n), 0, job.Scheduled)))
	}
	notes := record.Gather(changes)
	var sizes []int
	for _, n := range notes {
		sizes = append(sizes, len(n.Recent.Entries))
	}
	if want := []int{500, 500, 200}; !slices.Equal(sizes, want) {
		t.Errorf("pages hold %v, want %v", sizes, want)
	}
	if notes[1].Recent.Mark != "r500" || notes[1].First != 500 {
		t.Errorf("the second page is marked %s from change %d, want r500 from 500", notes[1].Recent.Mark, notes[1].First)
	}
}

func TestChildrenAreNoneOfTheLatestExecutionsButTheirDeadLettersAreTold(t *testing.T) {
	child := execution("acme/split", 0, job.Scheduled)
	child.Key = job.ChildKey(child.Key, 7)
	dead := execution("acme/split", 0, job.Dead)
	dead.Key = child.Key
	follows := execution("acme/split", 0, job.Scheduled)
	follows.Key = job.ReduceKey(job.ScheduledKey(noon))
	notes := record.Gather([]record.Change{inserted("a", child), modified("b", child, dead), inserted("c", follows)})
	var told []string
	for _, n := range notes {
		switch {
		case n.Recent != nil:
			for _, e := range n.Recent.Entries {
				told = append(told, "recent "+e.Key.String())
			}
		case n.Attention != nil:
			told = append(told, "attention "+n.Attention.Execution.Key.String())
		}
	}
	want := []string{"attention 20260712T120000Z#s#c#0000-0007", "recent 20260712T120000Z#s#f"}
	if !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}
