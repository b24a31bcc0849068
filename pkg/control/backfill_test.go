package control_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// minutely is a job of every minute that was made an hour ago, and whose scans have
// not come by for the last while.
func (d *desk) minutely(unseen time.Duration) {
	d.Helper()
	definition := daily()
	definition.Schedule = job.Schedule{Cron: "* * * * *"}
	d.put(definition)
	time.Sleep(time.Hour)
	d.must(d.belfry.Trigger.Materialise(d.Context(), d.ref))
	time.Sleep(unseen)
}

func (d *desk) ask(r control.BackfillRequest) control.BackfillResult {
	d.Helper()
	r.Ref, r.Actor = d.ref, "ada"
	result, err := d.Backfill(d.Context(), r)
	d.must(err)
	return result
}

func TestABackfillAndItsCancelAreAudited(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.put(daily())
		result := d.ask(control.BackfillRequest{From: time.Now().Add(-48 * time.Hour)})
		_, err := d.CancelBackfill(d.Context(), d.ref, result.Backfill.ID, "bob")
		d.must(err)
		got := d.audit()
		slices.Sort(got)
		if want := []string{"backfill ada 1", "cancel backfill bob 1", "create ada 1"}; !slices.Equal(got, want) {
			t.Errorf("the audit log says %v, want %v", got, want)
		}
	})
}

// From its cursor on times are the job's own: a backfill ends before it, so that
// the misfire policy of the job decides on what is late.
func TestABackfillLeavesTheJobsOwnTimesToIt(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.minutely(20 * time.Minute)
		cursor := d.head().NextFireAt
		if !cursor.Before(time.Now()) {
			t.Fatalf("the cursor stands at %s: nothing is overdue", cursor)
		}
		result := d.ask(control.BackfillRequest{From: time.Now().Add(-3 * time.Hour), DryRun: true})
		if want := cursor.Add(-time.Minute); !result.Backfill.To.Equal(want) {
			t.Errorf("it ends at %s, want %s", result.Backfill.To, want)
		}
	})
}

// A dry run counts as the backfill then does, and writes nothing.
func TestADryRunOfABackfillCountsWhatItWouldDo(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.minutely(0)
		d.written()
		from := time.Now().Add(-2 * time.Hour)
		dry := d.ask(control.BackfillRequest{From: from, DryRun: true})
		if writes := d.written(); len(writes) > 0 {
			t.Errorf("it wrote %v", writes)
		}
		made := d.ask(control.BackfillRequest{From: from, Rate: 10})
		b := made.Backfill
		if b.Total != dry.Backfill.Total || b.Made != b.Total-dry.There || b.Skipped != dry.There || dry.There == 0 || b.Made == 0 {
			t.Errorf("a dry run told %d of %d there; %d were made and %d passed over", dry.There, dry.Backfill.Total, b.Made, b.Skipped)
		}
	})
}

// While a revision that was made ahead has not taken over, a backfill is of the one
// that holds.
func TestABackfillIsOfTheRevisionThatHolds(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.put(daily())
		d.put(edited())
		if b := d.ask(control.BackfillRequest{From: time.Now().Add(-48 * time.Hour)}).Backfill; b.Revision != 2 {
			t.Errorf("it is of revision %d", b.Revision)
		}
	})
}

func TestABackfillThatIsDoneCannotBeCanceled(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.put(daily())
		b := d.ask(control.BackfillRequest{From: time.Now().Add(-48 * time.Hour)}).Backfill
		done := b
		done.State, done.NextFireAt = job.BackfillDone, time.Time{}
		d.must(d.belfry.Store.SaveBackfill(d.Context(), job.BackfillChange{Old: &b, New: done}))
		if _, err := d.CancelBackfill(d.Context(), d.ref, b.ID, "bob"); job.CodeOf(err) != job.CodeStateConflict {
			t.Errorf("it gave %v", err)
		}
	})
}

// A range that has not come is refused by the end that is wrong, also where the
// other one was left out.
func TestABackfillOfWhatHasNotComeIsRefusedByTheRightEnd(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.put(daily())
		ahead, behind := time.Now().Add(48*time.Hour), time.Now().Add(-48*time.Hour)
		for field, r := range map[string]control.BackfillRequest{"from": {From: ahead}, "to": {From: behind, To: ahead}} {
			r.Ref = d.ref
			_, err := d.Backfill(d.Context(), r)
			if said := (*job.Error)(nil); !errors.As(err, &said) || said.Field != field || said.Bound == "" || said.Fix == "" {
				d.Errorf("from %s to %s gives %v", r.From, r.To, err)
			}
		}
	})
}
