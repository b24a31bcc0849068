package sim_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

// backup is what point-in-time recovery would bring back of each table.
type backup struct {
	jobs, control, executions []map[string]ddbtypes.AttributeValue
}

// definitions backs up jobs and control as they are now.
func (b *backup) definitions(t *testing.T, w *sim.World) {
	t.Helper()
	tables := w.Control.Store.Tables()
	b.jobs, b.control = scanned(t, w, tables.Jobs), scanned(t, w, tables.Control)
}

// restoredWorld is a new installation over new queues whose tables hold the backup.
func restoredWorld(t *testing.T, b backup, o sim.Options) *sim.World {
	t.Helper()
	o.RestoreEpoch = 1
	w := world(t, o)
	db, tables := dynamodb.NewFromConfig(w.Backend.Config()), w.Control.Store.Tables()
	for table, items := range map[string][]map[string]ddbtypes.AttributeValue{tables.Jobs: b.jobs, tables.Control: b.control, tables.Executions: b.executions} {
		for _, stored := range items {
			if _, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: stored}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return w
}

// repair runs the repair to its end and returns what it did.
func repair(t *testing.T, w *sim.World) job.RestoreProgress {
	t.Helper()
	for {
		p, err := w.Control.Restore.Step(t.Context(), "drill")
		if err != nil {
			t.Fatal(err)
		}
		if p.Phase == job.RestoreDone {
			return p
		}
	}
}

// slowSome takes half a minute for every third execution, fails now and then, and
// otherwise ends at once: at any moment some run, some wait for a retry.
func slowSome(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
	e := a.Execution
	switch e.ScheduledAt.Unix() % 3 {
	case 0:
		select {
		case <-time.After(35 * time.Second):
		case <-ctx.Done():
			return &lifecycle.Failure{Code: "STOPPED"}
		}
	case 1:
		if e.Attempt < 3 {
			return &lifecycle.Failure{Code: "FLAKY"}
		}
	}
	return nil
}

// A day in the life of a platform engineer: some load, verbs on every job
// in the last minutes, a disaster, tables restored to the documented instants, a
// repair, and on it goes. No time of a restored schedule lacks a disposition, nothing
// is left behind, and no token that anybody sees is one that was seen before.
func TestAfterARestoreNothingIsLostAndNoTokenComesTwice(t *testing.T) {
	seeds := 3
	switch {
	case prove():
		seeds = 100
	case testing.Short():
		seeds = 1
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { restoreDrill(t, uint64(seed)) })
		})
	}
}

func restoreDrill(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 9))
	old := world(t, sim.Options{Work: slowSome})
	old.Start(t.Context())
	var operators []*operator
	for i := range 12 {
		o := &operator{t: t, w: old, r: r, ref: job.Ref{Tenant: job.DefaultTenant, Job: fmt.Sprint("job-", i)}, paused: time.Now()}
		o.step()
		operators = append(operators, o)
	}
	time.Sleep(10*time.Minute + time.Duration(r.IntN(60))*time.Second)
	b := backup{}
	for second := range 180 { // the backup of the jobs is taken in the middle of the verbs
		if second == 120 {
			b.definitions(t, old)
		}
		time.Sleep(time.Second)
		if r.IntN(2) == 0 {
			operators[r.IntN(len(operators))].step()
		}
	}
	b.executions = scanned(t, old, old.Control.Store.Tables().Executions)
	time.Sleep(time.Duration(r.IntN(90)) * time.Second) // the disaster is noticed
	old.Stop()
	time.Sleep(time.Duration(r.IntN(20)) * time.Minute) // and the tables are restored
	fresh := restoredWorld(t, b, sim.Options{Work: slowSome})
	begun := time.Now()
	fresh.Start(t.Context())
	time.Sleep(3 * time.Minute)
	if runs := fresh.Runs(); len(runs) > 0 {
		t.Fatalf("%d attempts began before the repair, the first of %s", len(runs), runs[0].ID)
	}
	did := repair(t, fresh)
	time.Sleep(12 * time.Minute)
	upto := time.Now()
	time.Sleep(8 * time.Minute)
	fresh.Stop()
	t.Logf("seed %d: %+v", seed, did)
	judgeRestored(t, old, fresh, begun, upto)
}

// judgeRestored: every time of every restored job since its last verb has ended,
// what was under way has ended, and all tokens are new.
func judgeRestored(t *testing.T, old, fresh *sim.World, begun, upto time.Time) {
	t.Helper()
	heads, err := fresh.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range heads {
		if h.State == job.Enabled {
			from := h.UpdatedAt
			if h.SwitchedAt.After(from) {
				from = h.SwitchedAt // times up to it are those of the revision before
			}
			if err := fresh.Check(t.Context(), h.Ref, from, upto); err != nil {
				t.Errorf("%s: %.600v", h.Ref, err)
			}
		}
		if h.Epoch <= job.RestoreBase(1) { // a switch-over that waited has raised some further
			t.Errorf("%s has epoch %d after the repair", h.Ref, h.Epoch)
		}
		stored, err := fresh.Stored(t.Context(), h.Ref)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range stored {
			if e.Range == nil && !lifecycle.Terminal(e.Status) && e.Status != job.Withdrawn && e.AvailableAt.Before(upto) {
				t.Errorf("%s was left behind as %s since %s: %+v", e.ID(), e.Status, e.AvailableAt, e)
			}
		}
	}
	seen := map[string]int64{}
	for _, run := range old.Runs() {
		key := job.IdempotencyKey(run.Ref, run.Key)
		seen[key] = max(seen[key], run.Token)
	}
	again := 0
	for _, run := range fresh.Runs() {
		if before, known := seen[job.IdempotencyKey(run.Ref, run.Key)]; known {
			again++
			if run.Token <= before {
				t.Errorf("%s ran under token %d, outside systems have seen %d", run.ID, run.Token, before)
			}
		}
		if run.At.Before(begun) {
			t.Errorf("%s began before the restore", run.ID)
		}
	}
	if again == 0 {
		t.Error("no execution of the old installation ran on in the new one: the drill shows nothing")
	}
}

// What a restore of the tables to one and the same instant leaves, or to instants
// the wrong way round: the cursor stands ahead of the executions. It is set back.
func TestARepairSetsBackACursorThatStandsAheadOfTheExecutions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := world(t, sim.Options{})
		begun := time.Now()
		ref := put(t, old, job.Definition{Job: "job", Schedule: job.Schedule{Every: job.Duration(10 * time.Second)}})
		old.Start(t.Context())
		b := backup{}
		time.Sleep(20*time.Minute + 30*time.Second)
		b.executions = scanned(t, old, old.Control.Store.Tables().Executions)
		time.Sleep(4 * time.Minute)
		b.definitions(t, old)
		old.Stop()
		fresh := restoredWorld(t, b, sim.Options{})
		if did := repair(t, fresh); did.SetBack != 1 {
			t.Fatalf("the repair did %+v", did)
		}
		fresh.Start(t.Context())
		time.Sleep(10 * time.Minute)
		upto := time.Now()
		time.Sleep(5 * time.Minute)
		fresh.Stop()
		if err := fresh.Check(t.Context(), ref, begun, upto); err != nil {
			t.Errorf("%.800v", err)
		}
	})
}

// A job made in the lost minute is not in the backup: what had not begun is
// withdrawn, what had begun is a dead letter that says so.
func TestExecutionsOfAJobThatIsNotInTheBackupEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := world(t, sim.Options{Work: func(ctx context.Context, _ *execute.Attempt) *lifecycle.Failure {
			<-ctx.Done()
			return &lifecycle.Failure{Code: "STOPPED"}
		}})
		b := backup{}
		b.definitions(t, old)
		old.Start(t.Context())
		ref := put(t, old, job.Definition{Job: "new", Schedule: job.Schedule{Every: job.Duration(30 * time.Second)}})
		time.Sleep(59 * time.Second)
		b.executions = scanned(t, old, old.Control.Store.Tables().Executions)
		old.Stop()
		fresh := restoredWorld(t, b, sim.Options{})
		did := repair(t, fresh)
		if did.GivenUp == 0 || did.Withdrawn == 0 || did.Rearmed != 0 {
			t.Errorf("the repair did %+v", did)
		}
		stored, err := fresh.Stored(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range stored {
			if e.Reason != lifecycle.Restored || e.Status != job.Dead && e.Status != job.Withdrawn {
				t.Errorf("%s is %s (%s)", e.ID(), e.Status, e.Reason)
			}
		}
	})
}

// Until the repair is done every verb says what to do; afterwards it is taken.
func TestNoVerbIsTakenBeforeTheRepair(t *testing.T) {
	d, _ := later()
	onStage(t, d, func(s *stage) {
		b := backup{}
		b.definitions(s.T, s.w)
		b.executions = scanned(s.T, s.w, s.planes().Store.Tables().Executions)
		s.w = restoredWorld(s.T, b, sim.Options{Shards: 1})
		service := s.planes().Control
		verbs := map[string]func() error{
			"put":       func() error { _, err := service.Put(s.Context(), putOf(s.ref, d)); return err },
			"pause":     func() error { _, err := service.Pause(s.Context(), s.ref, "test"); return err },
			"resume":    func() error { _, err := service.Resume(s.Context(), s.ref, "test", ""); return err },
			"run":       func() error { _, err := service.RunNow(s.Context(), control.RunRequest{Ref: s.ref}); return err },
			"reconcile": func() error { _, err := s.planes().Trigger.Reconcile(s.Context(), ""); return err },
			"delete":    func() error { _, err := service.Delete(s.Context(), s.ref, "test", 0); return err },
		}
		for name, verb := range verbs {
			var refusal *job.Error
			if err := verb(); !errors.As(err, &refusal) || refusal.Code != job.CodeRestorePending || refusal.Fix == "" {
				s.Errorf("%s before the repair: %v", name, err)
			}
		}
		repair(s.T, s.w)
		for _, name := range []string{"put", "run", "reconcile", "pause", "resume", "delete"} {
			s.must(verbs[name]())
		}
	})
}
