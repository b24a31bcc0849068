package control_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

func (d *desk) replay(e *job.Execution, word string) *job.Execution {
	d.Helper()
	made, err := d.Replay(d.Context(), control.ReplayRequest{Ref: d.ref, Key: e.Key, Actor: "bob", IdempotencyKey: word})
	d.must(err)
	return made
}

// A chain of replays stands for one scheduled time: each link names the one before
// and the first, and each is named by the one before.
func TestAReplayAndItsReplayStandForTheSameTime(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.put(once())
		at := d.head().LastScheduled
		time.Sleep(3 * time.Minute)
		first, err := d.belfry.Store.Execution(d.Context(), d.ref, job.ScheduledKey(at))
		d.must(err)
		first = d.bring(first, job.Dead, "X")
		second := d.replay(first, "")
		third := d.replay(d.bring(second, job.Dead, "X"), "")
		for _, e := range []*job.Execution{second, third} {
			if e.Kind != job.KindReplay || e.Stands() != first.Key || e.ReplayOf != first.ID() || !e.ScheduledAt.Equal(at) || e.Status != job.Scheduled || e.Reason != lifecycle.Replayed || e.FencingToken < first.FencingToken {
				t.Errorf("a replay is %+v", e)
			}
		}
		if second.ReplayedFrom != "" || third.ReplayedFrom != second.ID() || third.FencingToken < d.reload(second).FencingToken {
			t.Errorf("they come from %q and %q", second.ReplayedFrom, third.ReplayedFrom)
		}
		if got := d.reload(first).ReplayedBy; !slices.Equal(got, []string{second.ID()}) {
			t.Errorf("the first is replayed by %v", got)
		}
		if got := d.reload(second).ReplayedBy; !slices.Equal(got, []string{third.ID()}) {
			t.Errorf("the second is replayed by %v", got)
		}
	})
}

// A replay runs the job's definition of now as a whole, and the data interval of
// then.
func TestAReplayRunsTheCurrentRevisionOverTheSameData(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.put(daily())
		time.Sleep(36 * time.Hour)
		at := time.Date(2000, 1, 1, 12, 0, 0, 0, time.UTC)
		e := &job.Execution{Ref: d.ref, Key: job.ScheduledKey(at), Revision: 1, Epoch: 1, Pool: "fast-io", CreatedAt: at, AvailableAt: at, Reason: lifecycle.Materialised}
		_, err := d.belfry.Store.Put(d.Context(), e)
		d.must(err)
		e = d.bring(d.reload(e), job.Failed, "X")
		if got := d.replay(e, ""); !got.Covers.IsZero() || got.Revision != 1 {
			t.Errorf("under the same revision it covers from %v of revision %d", got.Covers, got.Revision)
		}
		next := daily()
		next.Schedule, next.Pool, next.Type = job.Schedule{Cron: "0 * * * *"}, "cpu-heavy", "billing"
		head := d.put(next).Head
		_, err = d.Pause(d.Context(), d.ref, "ada")
		d.must(err)
		got := d.replay(e, "")
		if got.Revision != head.Revision || got.Pool != "cpu-heavy" || got.Type != "billing" || got.Epoch != head.Epoch+1 || got.Fenced() {
			t.Errorf("it is %+v", got)
		}
		if want := at.Add(-24 * time.Hour); !got.Covers.Equal(want) {
			t.Errorf("it covers from %s, want %s", got.Covers, want)
		}
		_, err = d.Delete(d.Context(), d.ref, "ada", 0)
		d.must(err)
		if _, err := d.Replay(d.Context(), control.ReplayRequest{Ref: d.ref, Key: e.Key, Actor: "bob"}); job.CodeOf(err) != job.CodeStateConflict {
			t.Errorf("of a deleted job: %v", err)
		}
	})
}

func TestAReplayWithAWordIsMadeOnce(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.put(daily())
		e := d.brought(job.Dead, "X")
		one := d.replay(e, "word")
		d.bring(one, job.Succeeded, "")
		if again := d.replay(e, "word"); again.Key != one.Key || again.Status != job.Succeeded {
			t.Errorf("again: %+v", again)
		}
		if other, fresh := d.replay(e, "other"), d.replay(e, ""); other.Key == one.Key || fresh.Key == other.Key || len(d.reload(e).ReplayedBy) != 3 {
			t.Errorf("it is replayed by %v", d.reload(e).ReplayedBy)
		}
		for n := range job.MaxReplays - 3 {
			d.replay(e, fmt.Sprint(n))
		}
		if _, err := d.Replay(d.Context(), control.ReplayRequest{Ref: d.ref, Key: e.Key, Actor: "bob"}); job.CodeOf(err) != job.CodeStateConflict {
			t.Errorf("once too often: %v", err)
		}
		if again := d.replay(e, "word"); again.Key != one.Key {
			t.Error("a word that was given is forgotten")
		}
	})
}

// page asks for a page of a run.
func (d *desk) page(r control.ReplaysRequest) control.ReplaysResult {
	d.Helper()
	r.Tenant, r.Actor = d.ref.Tenant, "bob"
	if r.Limit == 0 {
		r.Limit = 100
	}
	result, err := d.Replays(d.Context(), r)
	d.must(err)
	return result
}

func TestARunOfReplaysTakesWhatItsFilterSelects(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.put(daily())
		var made []*job.Execution
		for i, status := range []job.Status{job.Failed, job.Dead, job.NeedsReview, job.Dead, job.Dead} {
			made = append(made, d.brought(status, fmt.Sprint("E", i%2)))
			time.Sleep(time.Minute)
		}
		_, err := d.ResolveDead(d.Context(), control.ResolveRequest{Ref: d.ref, Key: made[4].Key, As: job.Ignored, Actor: "ada"})
		d.must(err)
		dry := d.page(control.ReplaysRequest{All: true, DryRun: true})
		if _, err := ulid.ParseStrict(dry.Run); err != nil || len(dry.Results) != 3 || len(d.reload(made[0]).ReplayedBy) != 0 {
			t.Errorf("a dry run gives %+v", dry)
		}
		time.Sleep(time.Second)
		later := d.brought(job.Dead, "E1") // after the run was named
		run := d.page(control.ReplaysRequest{Filter: control.DeadFilter{Codes: []string{"E1"}}, Run: dry.Run})
		if len(run.Results) != 2 || !run.Results[0].Made || run.Next != "" || len(d.reload(later).ReplayedBy) != 0 {
			t.Errorf("it gives %+v", run)
		}
		if again := d.page(control.ReplaysRequest{Filter: control.DeadFilter{Codes: []string{"E1"}}, Run: dry.Run}); len(again.Results) != 0 {
			t.Errorf("again: %+v", again)
		}
		anew := d.page(control.ReplaysRequest{Filter: control.DeadFilter{Codes: []string{"E1"}}, Run: dry.Run, Again: true})
		if len(anew.Results) != 2 || anew.Results[0].Made || anew.Results[0].Replay == nil {
			t.Errorf("with what was replayed: %+v", anew)
		}
		if other := d.page(control.ReplaysRequest{All: true, Again: true}); len(other.Results) != 5 || !other.Results[4].Made {
			t.Errorf("another run gives %+v", other)
		}
	})
}

func TestARunThatSaysTooLittleIsRefused(t *testing.T) {
	atDesk(t, func(d *desk) {
		for name, row := range map[string]struct {
			request control.ReplaysRequest
			field   string
		}{
			"nothing is selected":        {control.ReplaysRequest{}, "all"},
			"what is in doubt":           {control.ReplaysRequest{Filter: control.DeadFilter{Statuses: []job.Status{job.NeedsReview}}}, "status"},
			"a run that is none":         {control.ReplaysRequest{All: true, Run: "mine"}, "run"},
			"a run in small letters":     {control.ReplaysRequest{All: true, Run: "01jzxw7gb0re2m4q0t5n6v8xyz"}, "run"},
			"a cursor that is not of us": {control.ReplaysRequest{All: true, Cursor: "x"}, "cursor"},
		} {
			row.request.Limit = 10
			_, err := d.Replays(d.Context(), row.request)
			var refusal *job.Error
			if asJobError(err, &refusal); refusal == nil || refusal.Code != job.CodeInvalid || refusal.Field != row.field {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// However a run is cut into pages, cut short and begun again: each dead letter is
// replayed once, also those whose replays have failed again meanwhile.
func TestARunThatIsCutShortReplaysNothingTwice(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		count := rapid.IntRange(0, 9).Draw(r, "dead letters")
		pages := rapid.SliceOfN(rapid.IntRange(1, 4), 1, 4).Draw(r, "sizes of pages")
		cuts := rapid.SliceOfN(rapid.IntRange(0, 3), 0, 3).Draw(r, "pages before each cut")
		failing := rapid.Bool().Draw(r, "replays fail again")
		atDesk(t, func(d *desk) {
			d.put(daily())
			for range count {
				d.brought(job.Dead, "X")
				time.Sleep(time.Second)
			}
			run := d.page(control.ReplaysRequest{All: true, DryRun: true}).Run
			for _, upto := range append(cuts, 100) {
				cursor := ""
				for n := 0; n < upto; n++ {
					result := d.page(control.ReplaysRequest{All: true, Run: run, Cursor: cursor, Limit: pages[n%len(pages)]})
					for _, one := range result.Results {
						if failing && one.Made {
							d.bring(one.Replay, job.Dead, "X")
						}
					}
					if cursor = result.Next; cursor == "" {
						break
					}
				}
			}
			replays := 0
			for _, e := range d.stored() {
				if e.Kind == job.KindReplay {
					replays++
				} else if len(e.ReplayedBy) != 1 {
					t.Errorf("%s is replayed by %v", e.ID(), e.ReplayedBy)
				}
			}
			if replays != count {
				t.Errorf("%d replays of %d", replays, count)
			}
		})
		if t.Failed() {
			r.Fatal("see above")
		}
	})
}

// Two people who replay the same letters at the same time replay each once.
func TestTwoRunsAtOnceReplayEachLetterOnce(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.put(daily())
		for range 20 {
			d.brought(job.Dead, "X")
		}
		time.Sleep(time.Second)
		var made [3]int
		var all sync.WaitGroup
		for i := range made {
			all.Go(func() {
				result, err := d.Replays(d.Context(), control.ReplaysRequest{Tenant: d.ref.Tenant, All: true, Limit: 100, Actor: "bob"})
				for _, one := range result.Results {
					if one.Refused != nil || !one.Made {
						t.Errorf("run %d: %+v", i, one)
					}
					made[i]++
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for _, e := range d.stored() {
			if e.Kind == job.KindManual && len(e.ReplayedBy) != 1 {
				t.Errorf("%s is replayed by %v", e.ID(), e.ReplayedBy)
			}
		}
		if made[0]+made[1]+made[2] != 20 {
			t.Errorf("they made %v of 20", made)
		}
	})
}

func TestAReplayThatBeginsFromScratchSaysSo(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.put(once())
		at := d.head().LastScheduled
		time.Sleep(3 * time.Minute)
		first, err := d.belfry.Store.Execution(d.Context(), d.ref, job.ScheduledKey(at))
		d.must(err)
		first = d.bring(first, job.Dead, "X")
		for _, scratch := range []bool{false, true} {
			made, err := d.Replay(d.Context(), control.ReplayRequest{Ref: d.ref, Key: first.Key, Actor: "bob", FromScratch: scratch})
			d.must(err)
			if got := d.reload(made); got.FromScratch != scratch || got.ReplayOf != first.ID() {
				t.Errorf("asked for from scratch: %v, stored: %v", scratch, got.FromScratch)
			}
		}
	})
}
