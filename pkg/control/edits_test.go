package control_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestAConditionalEditNeedsTheRevisionThatIsThere(t *testing.T) {
	for name, row := range map[string]struct {
		ifMatch  int
		ifAbsent bool
		code     job.Code
	}{
		"the current one":           {ifMatch: 2},
		"an older one":              {ifMatch: 1, code: job.CodeRevisionConflict},
		"one that never was":        {ifMatch: 7, code: job.CodeRevisionConflict},
		"none at all":               {ifAbsent: true, code: job.CodeAlreadyExists},
		"whatever is there":         {},
		"a negative, which is none": {ifMatch: -1, code: job.CodeRevisionConflict},
	} {
		t.Run(name, func(t *testing.T) {
			atDesk(t, func(d *desk) {
				d.put(daily())
				d.put(edited())
				d.written()
				third := daily()
				third.Description = "third"
				request := d.request(third)
				request.IfMatch, request.IfAbsent = row.ifMatch, row.ifAbsent
				_, err := d.Put(d.Context(), request)
				if job.CodeOf(err) != row.code {
					d.Fatalf("it gave %v, want code %q", err, row.code)
				}
				if row.code != "" && (len(d.written()) > 0 || d.head().Revision != 2) {
					d.Error("a refused edit wrote something")
				}
				if row.code == "" && d.head().Revision != 3 {
					d.Errorf("the job is at revision %d", d.head().Revision)
				}
			})
		})
	}
}

// Of edits that all name the same revision exactly one wins; edits that name
// none all come about, one after the other (PB-059).
func TestConcurrentEdits(t *testing.T) {
	for name, row := range map[string]struct{ ifMatch, wins int }{"with If-Match": {1, 1}, "without": {0, 4}} {
		t.Run(name, func(t *testing.T) {
			atDesk(t, func(d *desk) {
				d.put(daily())
				errs := make([]error, 4)
				var people sync.WaitGroup
				for i := range errs {
					people.Go(func() {
						mine := daily()
						mine.Description = fmt.Sprint("by ", i)
						request := d.request(mine)
						request.IfMatch = row.ifMatch
						_, errs[i] = d.Put(d.Context(), request)
					})
				}
				people.Wait()
				wins := 0
				for _, err := range errs {
					if err == nil {
						wins++
					} else if job.CodeOf(err) != job.CodeRevisionConflict {
						d.Errorf("a losing edit gave %v", err)
					}
				}
				if head := d.head(); wins != row.wins || head.Revision != 1+row.wins || head.Epoch != int64(1+row.wins) {
					d.Errorf("%d edits won, and the job is at revision %d, epoch %d", wins, head.Revision, head.Epoch)
				}
				if n := len(d.audit()); n != 1+row.wins {
					d.Errorf("%d audit entries", n)
				}
			})
		})
	}
}

// The same file applied ten times by three runners at once: one job, one
// revision, an untouched cursor (PB-059).
func TestTheSameFileAppliedByManyAtOnceIsOneRevision(t *testing.T) {
	atDesk(t, func(d *desk) {
		var runners sync.WaitGroup
		for range 3 {
			runners.Go(func() {
				for range 10 {
					if _, err := d.Put(d.Context(), d.request(daily())); err != nil {
						d.Error(err)
					}
				}
			})
		}
		runners.Wait()
		if head := d.head(); head.Revision != 1 || head.Epoch != 1 || head.NextFireAt.Hour() != 12 {
			d.Errorf("thirty applies made %+v", head)
		}
		d.written()
		if result := d.put(daily()); result.Action != control.Unchanged || len(d.written()) != 0 {
			d.Error("an unchanged file wrote something")
		}
	})
}

func TestAnEditTellsWhichTimesComeAndGo(t *testing.T) {
	noon := time.Date(2000, 1, 1, 12, 0, 0, 0, time.UTC)
	hours := func(from time.Time, step, count int) (list []time.Time) {
		for i := range count {
			list = append(list, from.Add(time.Duration(i*step)*time.Hour))
		}
		return list
	}
	for name, row := range map[string]struct {
		before, after  string
		appear, vanish []time.Time
	}{
		"an hour earlier each day":                  {"0 12 * * *", "0 11 * * *", hours(noon.Add(-time.Hour), 24, 20), hours(noon, 24, 19)},
		"the same times otherwise":                  {"0 12 * * *", "00 12 * * 0-6", nil, nil},
		"every sixth hour instead of every twelfth": {"0 */12 * * *", "0 */6 * * *", hours(noon.Add(-6*time.Hour), 12, 10), nil},
	} {
		t.Run(name, func(t *testing.T) {
			atDesk(t, func(d *desk) {
				before, after := daily(), daily()
				before.Schedule.Cron, after.Schedule.Cron = row.before, row.after
				d.put(before)
				request := d.request(after)
				request.DryRun = true
				preview, err := d.Put(d.Context(), request)
				d.must(err)
				result := d.put(after)
				if !slices.Equal(result.Appear, row.appear) || !slices.Equal(result.Vanish, row.vanish) {
					d.Errorf("appear %v\nvanish %v", result.Appear, result.Vanish)
				}
				if !slices.Equal(result.Appear, preview.Appear) || !slices.Equal(result.Vanish, preview.Vanish) {
					d.Error("the dry run told something else")
				}
			})
		})
	}
}

func TestADryRunWritesNothing(t *testing.T) {
	for situation, before := range situations {
		for name, definition := range map[string]job.Definition{"new content": edited(), "the same content": daily()} {
			t.Run(name+" for a job that is "+situation, func(t *testing.T) {
				atDesk(t, func(d *desk) {
					before(d)
					was := d.head()
					d.written()
					request := d.request(definition)
					request.DryRun = true
					result, err := d.Put(d.Context(), request)
					d.must(err)
					if writes := d.written(); len(writes) > 0 {
						d.Errorf("it wrote: %v", writes)
					}
					if now := d.head(); was != nil && now.Epoch != was.Epoch || was == nil && now != nil {
						d.Errorf("it changed the head to %+v", now)
					}
					done := d.put(definition)
					if done.Action != result.Action {
						d.Errorf("it said %s, and the put then %s", result.Action, done.Action)
					}
				})
			})
		}
	}
}
