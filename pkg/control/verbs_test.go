package control_test

import (
	"slices"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// answer is what a verb makes of a job: a refusal, or a state and how far the
// epoch was raised.
type answer struct {
	code   job.Code
	state  job.State
	raised int64
}

// table says what each verb does in each situation.
var table = map[string]map[string]answer{
	"pause": {
		"completed ahead": {state: job.Paused, raised: 1},
		"absent":          {code: job.CodeNotFound}, "deleted": {code: job.CodeNotFound}, "completed": {code: job.CodeStateConflict},
		"enabled": {state: job.Paused, raised: 1}, "paused": {state: job.Paused}, "suspended": {state: job.Paused, raised: 1}, "broken": {state: job.Paused, raised: 1},
	},
	"resume": {
		"completed ahead": {state: job.Completed},
		"absent":          {code: job.CodeNotFound}, "deleted": {code: job.CodeNotFound}, "completed": {code: job.CodeStateConflict},
		"enabled": {state: job.Enabled}, "paused": {state: job.Enabled, raised: 1}, "suspended": {state: job.Enabled, raised: 1}, "broken": {state: job.Enabled, raised: 1},
	},
	"delete": {
		"completed ahead": {state: job.Deleted, raised: 1},
		"absent":          {code: job.CodeNotFound}, "deleted": {state: job.Deleted}, "completed": {state: job.Deleted, raised: 1},
		"enabled": {state: job.Deleted, raised: 1}, "paused": {state: job.Deleted, raised: 1}, "suspended": {state: job.Deleted, raised: 1}, "broken": {state: job.Deleted, raised: 1},
	},
	"edit": {
		"completed ahead": {state: job.Enabled, raised: 1},
		"absent":          {state: job.Enabled, raised: 1}, "deleted": {state: job.Enabled, raised: 1}, "completed": {state: job.Enabled, raised: 1},
		"enabled": {state: job.Enabled, raised: 1}, "paused": {state: job.Paused, raised: 1}, "suspended": {state: job.Suspended, raised: 1}, "broken": {state: job.Enabled, raised: 1},
	},
	"run now": {
		"completed ahead": {state: job.Completed},
		"absent":          {code: job.CodeNotFound}, "deleted": {code: job.CodeNotFound}, "completed": {state: job.Completed},
		"enabled": {state: job.Enabled}, "paused": {state: job.Paused}, "suspended": {state: job.Suspended}, "broken": {state: job.Broken},
	},
}

func TestEachVerbInEachStateOfAJob(t *testing.T) {
	for verb, do := range verbs {
		for situation, before := range situations {
			t.Run(verb+" of a job that is "+situation, func(t *testing.T) {
				want, known := table[verb][situation]
				if !known {
					t.Fatal("the table does not say")
				}
				atDesk(t, func(d *desk) {
					before(d)
					was := d.head()
					d.written()
					time.Sleep(time.Second)
					_, err := do(d.Context(), d)
					if job.CodeOf(err) != want.code {
						d.Fatalf("it gave %v, want code %q", err, want.code)
					}
					if want.code != "" {
						if writes := d.written(); len(writes) > 0 {
							d.Errorf("a refused verb wrote: %v", writes)
						}
						return
					}
					d.compare(verb, was, want)
				})
			})
		}
	}
}

// compare judges the head after an acknowledged verb.
func (d *desk) compare(verb string, was *job.Head, want answer) {
	d.Helper()
	now := d.head()
	if was == nil {
		was = &job.Head{}
	}
	if now.State != want.state || now.Epoch != was.Epoch+want.raised || now.Gap != nil || now.Plan != nil {
		d.Errorf("the head was %+v and is %+v", was, now)
	}
	born := was.State == "" || was.State == job.Deleted
	runsFrom := was.RunsFrom
	if want.raised > 0 && (verb != "edit" || born) {
		runsFrom = now.Epoch
	}
	if now.RunsFrom != runsFrom {
		d.Errorf("runs_from was %d and is %d at epoch %d", was.RunsFrom, now.RunsFrom, now.Epoch)
	}
	revision := was.Revision
	if verb == "edit" {
		revision++
	}
	if now.Revision != revision {
		d.Errorf("the revision went from %d to %d", was.Revision, now.Revision)
	}
	due := now.State == job.Enabled
	if due != !now.NextFireAt.IsZero() || due != (now.DueShard != "") {
		d.Errorf("a job that is %s has the cursor %s in shard %q", now.State, now.NextFireAt, now.DueShard)
	}
}

// A verb is acknowledged after its clean-up, and repeating it repeats that.
func TestARepeatedVerbRepeatsTheCleanUpAndNothingElse(t *testing.T) {
	for verb, reason := range map[string]job.Reason{"pause": lifecycle.JobPaused, "resume": lifecycle.Superseded, "delete": lifecycle.JobDeleted, "edit": lifecycle.Superseded} {
		t.Run(verb, func(t *testing.T) {
			atDesk(t, func(d *desk) {
				d.put(daily())
				if verb == "resume" {
					_, err := d.Pause(d.Context(), d.ref, "ada")
					d.must(err)
				}
				_, err := verbs[verb](d.Context(), d)
				d.must(err)
				was := d.head()
				at := time.Now().Truncate(time.Second).Add(time.Hour)
				// A slow scanner makes a time of the first life after all.
				_, err = d.belfry.Store.Put(d.Context(), &job.Execution{Ref: d.ref, Key: job.ScheduledKey(at), Epoch: 1, Revision: 1, Pool: "fast-io", CreatedAt: time.Now(), AvailableAt: at})
				d.must(err)
				_, err = verbs[verb](d.Context(), d)
				d.must(err)
				if now := d.head(); now.Epoch != was.Epoch || now.Revision != was.Revision || !now.UpdatedAt.Equal(was.UpdatedAt) {
					d.Errorf("the repeated verb changed the head from %+v to %+v", was, now)
				}
				e, err := d.belfry.Store.Execution(d.Context(), d.ref, job.ScheduledKey(at))
				d.must(err)
				if e.Status != job.Withdrawn || e.Reason != reason {
					d.Errorf("the old execution is left %s because of %s, want WITHDRAWN because of %s", e.Status, e.Reason, reason)
				}
			})
		})
	}
}

// A verb on a job whose cursor is overdue leaves one record of the times passed
// over, and none of them begins afterwards.
func TestAVerbOnAnOverdueJobLeavesExactlyOneRangedRecord(t *testing.T) {
	for verb, reason := range map[string]job.Reason{"pause": lifecycle.JobPaused, "delete": lifecycle.JobDeleted, "edit": lifecycle.JobEdited} {
		t.Run(verb, func(t *testing.T) {
			atDesk(t, func(d *desk) {
				minutely := daily()
				minutely.Schedule.Cron = "* * * * *"
				d.put(minutely)
				cursor := d.head().NextFireAt
				time.Sleep(time.Until(cursor) + 10*time.Minute + 30*time.Second) // nobody scans
				for range 2 {
					_, err := verbs[verb](d.Context(), d)
					d.must(err)
				}
				var ranges []job.Execution
				for _, e := range d.stored() {
					if e.Range != nil {
						ranges = append(ranges, e)
					}
				}
				if len(ranges) != 1 || ranges[0].Range.Count != 11 || !ranges[0].Range.From.Equal(cursor) || ranges[0].Reason != reason || ranges[0].Status != job.Missed {
					d.Fatalf("on record: %+v", ranges)
				}
				if verb == "edit" {
					rev, err := d.belfry.Store.Revision(d.Context(), d.ref, 2)
					d.must(err)
					if !rev.CarryUntil.Equal(cursor.Add(-time.Second)) {
						d.Errorf("executions of revision 1 may begin up to %s, and the cursor stood at %s", rev.CarryUntil, cursor)
					}
				}
			})
		})
	}
}

func TestACreateOverATombstoneGoesOnWithItsNumbers(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.put(daily())
		_, err := d.Delete(d.Context(), d.ref, "ada", 0)
		d.must(err)
		conditional := d.request(daily())
		conditional.IfMatch = 1
		if _, err := d.Put(d.Context(), conditional); job.CodeOf(err) != job.CodeNotFound {
			d.Errorf("a conditional edit of a deleted job gave %v", err)
		}
		result := d.put(daily())
		if result.Action != "created" || result.Head.Revision != 2 || result.Head.Epoch != 3 || result.Head.RunsFrom != 3 {
			d.Errorf("the second life begins as %s %+v", result.Action, result.Head)
		}
		if again := d.put(daily()); again.Action != "unchanged" || again.Head.Epoch != 3 {
			d.Errorf("the same again is %s at epoch %d", again.Action, again.Head.Epoch)
		}
	})
}

func TestEveryVerbLeavesOneAuditEntry(t *testing.T) {
	atDesk(t, func(d *desk) {
		for _, verb := range []string{"edit", "pause", "pause", "resume", "delete", "edit"} {
			_, err := verbs[verb](d.Context(), d)
			d.must(err)
			time.Sleep(time.Second)
		}
		got := d.audit()
		want := []string{"create ada 1", "pause bob 2", "resume bob 3", "delete bob 4", "create ada 5"}
		if !slices.Equal(got, want) {
			d.Errorf("the audit says %q, want %q", got, want)
		}
	})
}

func TestAOneOffJobIsEnabledUntilItsTimeAndCanBePausedAndResumed(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.put(once())
		at := d.head().LastScheduled
		read := func() job.State {
			view, err := d.Get(d.Context(), d.ref)
			d.must(err)
			return view.Head.State
		}
		if state := read(); state != job.Enabled {
			d.Fatalf("before its time it reads as %s", state)
		}
		_, err := d.Pause(d.Context(), d.ref, "bob")
		d.must(err)
		if e, err := d.Executions.Execution(d.Context(), d.ref, job.ScheduledKey(at)); err != nil || e.Status != job.Withdrawn {
			d.Fatalf("paused, its execution is %+v, %v", e, err)
		}
		_, err = d.Resume(d.Context(), d.ref, "bob", "")
		d.must(err)
		if e, err := d.Executions.Execution(d.Context(), d.ref, job.ScheduledKey(at)); err != nil || e.Status != job.Scheduled {
			d.Fatalf("resumed, its execution is %+v, %v", e, err)
		}
		time.Sleep(3 * time.Minute)
		if state := read(); state != job.Completed {
			d.Fatalf("after its time it reads as %s", state)
		}
	})
}

func TestTheListOfAJobThatWasNeverMadeIsNotFoundAndThatOfADeletedOneIs(t *testing.T) {
	atDesk(t, func(d *desk) {
		query := job.ExecutionQuery{Ref: d.ref, Limit: 10}
		if _, _, err := d.ListExecutions(d.Context(), query, false); job.CodeOf(err) != job.CodeNotFound {
			d.Fatalf("a job that was never made: %v", err)
		}
		d.put(daily())
		_, err := d.Delete(d.Context(), d.ref, "bob", 0)
		d.must(err)
		if _, _, err := d.ListExecutions(d.Context(), query, false); err != nil {
			d.Fatalf("a deleted job: %v", err)
		}
	})
}
