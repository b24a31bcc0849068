package sim_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

// life is a span in which one revision was the job's current, enabled one.
type life struct {
	plan     *schedule.Plan
	revision int
	from     time.Time // effective_at of the verb that began it, exclusive
	to       time.Time // effective_at of the verb that ended it, inclusive; zero = still going on
}

// operator carries out random verbs on one job and remembers what was
// acknowledged.
type operator struct {
	t      *testing.T
	w      *sim.World
	r      *rand.Rand
	ref    job.Ref
	lives  []life
	errs   []string
	edits  int
	paused time.Time // when the last pause or delete was acknowledged; zero = running
}

var schedules = []job.Schedule{
	{Every: job.Duration(20 * time.Second)}, {Cron: "* * * * *", Zone: "UTC"}, {Every: job.Duration(7 * time.Second)}, {Cron: "*/3 * * * *", Zone: "Asia/Kolkata"},
}

func (o *operator) definition() job.Definition {
	o.edits++
	return job.Definition{Job: o.ref.Job, Schedule: schedules[o.r.IntN(len(schedules))], Target: job.Target{Log: &job.LogTarget{}},
		Description: fmt.Sprint("edit ", o.edits), Retry: job.Retry{MaxAttempts: 20, MaxLost: 20}}
}

// ended closes the lives at the verb's effective_at; those that were to begin
// later never do.
func (o *operator) ended(head *job.Head) {
	kept := o.lives[:0]
	for _, l := range o.lives {
		if !l.from.Before(head.UpdatedAt) {
			continue
		}
		if l.to.IsZero() || l.to.After(head.UpdatedAt) {
			l.to = head.UpdatedAt
		}
		kept = append(kept, l)
	}
	o.lives = kept
}

func (o *operator) began(head *job.Head) {
	plan, err := schedule.Compile(head.Schedule, head.Anchor)
	if err != nil {
		o.t.Fatal(err)
	}
	o.lives = append(o.lives, life{plan: plan, revision: head.Revision, from: head.UpdatedAt})
	o.paused = time.Time{}
}

// step carries out one verb, and checks what ran since a pause was
// acknowledged before it ends.
func (o *operator) step() {
	service := o.w.Control.Control
	ctx := o.t.Context()
	switch verb := o.r.IntN(7); {
	case verb == 0 && o.paused.IsZero():
		head, err := service.Pause(ctx, o.ref, "test")
		o.must(err)
		o.ended(head)
		o.paused = time.Now()
	case verb == 1 && o.paused.IsZero():
		head, err := service.Delete(ctx, o.ref, "test", 0)
		o.must(err)
		o.ended(head)
		o.paused = time.Now()
	case verb == 2 && o.paused.IsZero():
		_, err := service.RunNow(ctx, control.RunRequest{Ref: o.ref, Actor: "test"})
		o.must(err)
	case !o.paused.IsZero():
		o.checkStill()
		before, err := o.w.Control.Store.Head(ctx, o.ref)
		o.must(err)
		how := []job.OnResume{job.ResumeFromNow, job.ResumeCatchUp}[o.r.IntN(2)]
		head, err := service.Resume(ctx, o.ref, "test", how)
		if job.CodeOf(err) == job.CodeStateConflict {
			return // a switch-over has been made and has not come yet
		}
		if job.CodeOf(err) == job.CodeNotFound {
			var result control.PutResult
			result, err = service.Put(ctx, control.PutRequest{Ref: o.ref, Definition: o.definition(), Actor: "test"})
			head = result.Head
		}
		o.must(err)
		o.began(head)
		if how == job.ResumeCatchUp && before != nil && before.State == job.Paused {
			o.lives[len(o.lives)-1].from = before.StoppedAt
			if before.SwitchedAt.After(before.StoppedAt) { // a revision has no times before it took over
				o.lives[len(o.lives)-1].from = before.SwitchedAt
			}
		}
		if !head.SwitchAt.IsZero() { // what waits outlives a pause
			o.waits(head.SwitchAt, head.Revision+1)
		}
	case verb == 3:
		o.editLater()
	default:
		result, err := service.Put(ctx, control.PutRequest{Ref: o.ref, Definition: o.definition(), Actor: "test"})
		if job.CodeOf(err) == job.CodeStateConflict {
			return // a switch-over has been made and has not come yet
		}
		o.must(err)
		o.ended(result.Head)
		o.began(result.Head)
		o.checkEdit(result.Head, time.Now())
	}
}

// operate makes a job, carries out verbs on it until a moment, then lets
// everything come to its end; upto it can be verified.
func operate(t *testing.T, w *sim.World, r *rand.Rand, until time.Time) (o *operator, upto time.Time) {
	t.Helper()
	o = &operator{t: t, w: w, r: r, ref: job.Ref{Tenant: job.DefaultTenant, Job: "job"}}
	result, err := w.Control.Control.Put(t.Context(), control.PutRequest{Ref: o.ref, Definition: o.definition(), Actor: "test"})
	o.must(err)
	o.began(result.Head)
	for time.Now().Before(until) {
		time.Sleep(time.Duration(r.IntN(240_000)) * time.Millisecond)
		o.step()
	}
	upto = time.Now()
	time.Sleep(45 * time.Minute)
	w.Stop()
	return o, upto
}

// editLater lets a definition wait for up to ten minutes.
func (o *operator) editLater() {
	at := time.Now().Truncate(time.Second).Add(time.Duration(10+o.r.IntN(600)) * time.Second)
	d := o.definition()
	result, err := o.w.Control.Control.Put(o.t.Context(), control.PutRequest{Ref: o.ref, Definition: d, Actor: "test", EffectiveAt: at})
	if job.CodeOf(err) == job.CodeStateConflict {
		return
	}
	o.must(err)
	o.ended(result.Head)
	o.began(result.Head)
	o.waits(at, result.Head.Revision+1)
}

// waits lets the last life be followed by that of the definition that waits.
func (o *operator) waits(at time.Time, revision int) {
	last := &o.lives[len(o.lives)-1]
	if at.Before(last.from) {
		at = last.from
	}
	last.to = at
	waiting, err := o.w.Control.Store.Waiting(o.t.Context(), o.ref)
	o.must(err)
	plan, err := schedule.Compile(waiting.Definition.Schedule, waiting.Anchor)
	o.must(err)
	o.lives = append(o.lives, life{plan: plan, revision: revision, from: at})
}

func (o *operator) must(err error) {
	if err != nil {
		o.t.Fatalf("%s: %v", time.Now(), err)
	}
}

// checkStill: since a pause was acknowledged, nothing scheduled has begun.
func (o *operator) checkStill() {
	for _, run := range o.w.Runs() {
		if run.Ref == o.ref && run.Key.Kind == job.KindScheduled && run.Attempt == 1 && run.At.After(o.paused) {
			o.errs = append(o.errs, fmt.Sprintf("%s began at %s although the job was paused at %s", run.ID, run.At, o.paused))
		}
	}
}

// checkEdit notes the bound that the edit sets: later first attempts of older
// revisions must be of times up to it. It is judged at the end.
func (o *operator) checkEdit(head *job.Head, acknowledged time.Time) {
	effective, revision, from := head.UpdatedAt, head.Revision, acknowledged
	o.t.Cleanup(func() {
		for _, run := range o.w.Runs() {
			_, _, of, err := job.ParseID(run.ID)
			if err == nil && run.Ref == o.ref && run.Key.Kind == job.KindScheduled && run.Attempt == 1 && of < revision && run.At.After(from) && run.Key.ScheduledAt.After(effective) {
				o.t.Errorf("%s began at %s although revision %d replaced it at %s", run.ID, run.At, revision, effective)
			}
		}
	})
}

// verify: every time of every life has a disposition, and no rule was broken.
func (o *operator) verify(upto time.Time) {
	stored, err := o.w.Stored(o.t.Context(), o.ref)
	o.must(err)
	head, err := o.w.Control.Store.Head(o.t.Context(), o.ref)
	o.must(err)
	own := map[int64]*job.Execution{}
	var ranges []job.Range
	for i := range stored {
		switch e := &stored[i]; {
		case e.Range != nil:
			ranges = append(ranges, *e.Range)
		case e.Kind == job.KindScheduled:
			own[e.ScheduledAt.Unix()] = e
		case !lifecycle.Terminal(e.Status):
			o.t.Errorf("the manual run %s is stuck in %s", e.ID(), e.Status)
		}
	}
	for _, l := range o.lives {
		to := l.to
		if to.IsZero() {
			to = upto
		}
		for _, at := range l.plan.Between(l.from, to, 0) {
			e := own[at.Unix()]
			covered := false
			for _, r := range ranges {
				covered = covered || !at.Before(r.From) && !at.After(r.To)
			}
			switch {
			case e != nil && (lifecycle.Terminal(e.Status) || e.Status == job.Withdrawn && !l.to.IsZero()):
			case covered && (e == nil || e.Attempt == 0): // also what a pause had withdrawn and a later resume left to the misfire policy
			case e != nil && e.Attempt == 0 && o.superseded(head, e):
			default:
				o.t.Errorf("%s of revision %d has no disposition: %+v", at, l.revision, e)
			}
		}
	}
	for _, e := range o.errs {
		o.t.Error(e)
	}
	if err := o.w.CheckChanges(o.t.Context()); err != nil {
		o.t.Errorf("%.3000v", err)
	}
}

func (o *operator) superseded(head *job.Head, e *job.Execution) bool {
	later, err := o.w.Control.Store.Revision(o.t.Context(), o.ref, e.Revision+1)
	o.must(err)
	var carry time.Time
	if later != nil {
		carry = later.CarryUntil
	}
	return !lifecycle.MayBegin(head, e.Epoch, e.ScheduledAt, carry)
}

// prove reports whether the long form of the tests was asked for.
func prove() bool { return os.Getenv("BELFRY_PROVE") != "" }

func TestVerbsAmidFaultsLeaveEveryTimeWithADispositionAndNothingOldBegins(t *testing.T) {
	seeds := 8
	switch {
	case testing.Short():
		seeds = 2
	case prove():
		seeds = 300
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(seed), 7))
				begun := time.Now()
				until := begun.Add(time.Hour)
				e := &everyCall{lives: map[string]int{}, calls: map[string]int{}, hits: map[string]int{}, reach: 11 + seed%30, until: until}
				decide := e.decide
				if seed%4 == 0 {
					decide = func(string, fault.Call) fault.Action { return fault.Pass }
				}
				w := world(t, sim.Options{Decide: decide, Work: flaky, Second: r.IntN(60)})
				w.Start(t.Context())
				o, upto := operate(t, w, r, until)
				o.verify(upto)
			})
		})
	}
}
