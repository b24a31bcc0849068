package sim_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

// awake runs the world for some minutes of each day, around the hour at which the
// daily purge begins; the rest of the day nothing is due.
func awake(t *testing.T, w *sim.World, days int) {
	t.Helper()
	for range days {
		if _, err := w.Backend.SweepExpired(); err != nil {
			t.Fatal(err)
		}
		w.Start(t.Context())
		time.Sleep(5 * time.Minute)
		w.Stop()
		time.Sleep(time.Until(time.Now().Truncate(24 * time.Hour).Add(27*time.Hour - 2*time.Minute)))
	}
}

func TestADeletedJobIsPurgedOnceItsHistoryIsOverAndItsNumbersNeverComeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := world(t, sim.Options{})
		service, ctx := w.Control.Control, t.Context()
		time.Sleep(3*time.Hour - 2*time.Minute)
		w.Start(ctx)
		often := job.Schedule{Every: job.Duration(20 * time.Second)}
		gone, again, alive := put(t, w, job.Definition{Job: "gone", Schedule: often}), put(t, w, job.Definition{Job: "again", Schedule: often}),
			put(t, w, job.Definition{Job: "alive", Schedule: job.Schedule{Cron: "0 3 * * *", Zone: "UTC"}})
		for n := range 3 {
			put(t, w, job.Definition{Job: "gone", Schedule: often, Description: fmt.Sprint(n)})
		}
		time.Sleep(5 * time.Minute)
		for _, ref := range []job.Ref{gone, again} {
			if _, err := service.Delete(ctx, ref, "test", 0); err != nil {
				t.Fatal(err)
			}
		}
		w.Stop()
		before, err := w.Control.Store.Head(ctx, gone)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(time.Now().Truncate(24 * time.Hour).Add(27*time.Hour - 2*time.Minute)))
		awake(t, w, 28)
		if runs, _, err := service.ListExecutions(ctx, control.ExecutionQuery{Ref: gone, Limit: 10}, false); err != nil || len(runs) == 0 {
			t.Fatalf("after 29 days its history is %v, %v", runs, err)
		}
		w.Start(ctx)
		put(t, w, job.Definition{Job: "again", Schedule: job.Schedule{Cron: "0 3 * * *", Zone: "UTC"}})
		w.Stop()
		awake(t, w, 11)
		head, err := w.Control.Store.Head(ctx, gone)
		if err != nil || head.PurgedAt.IsZero() || head.Epoch != before.Epoch || head.Revision != 4 {
			t.Fatalf("after 40 days it is purged at %s, epoch %d, revision %d, %v", head.PurgedAt, head.Epoch, head.Revision, err)
		}
		if kept := head.PurgedAt.Sub(before.UpdatedAt); kept < 30*24*time.Hour || kept > 34*24*time.Hour {
			t.Errorf("purged after %s", kept)
		}
		if left := itemsOf(t, w, gone); left != 1 {
			t.Errorf("%d items of it are left, want its head alone", left)
		}
		for _, ref := range []job.Ref{again, alive} {
			if view, err := service.Get(ctx, ref); err != nil || view.Definition.Job != ref.Job {
				t.Errorf("%s is %+v, %v", ref.Job, view, err)
			}
		}
		s, err := w.Control.Store.Sweeps(ctx)
		if err != nil || s.Purge.Purged != 1 {
			t.Errorf("the purge says %+v, %v", s.Purge, err)
		}
		comesBack(t, w, gone, before)
	})
}

// comesBack makes a purged job again: its numbers go on, and it runs.
func comesBack(t *testing.T, w *sim.World, ref job.Ref, before *job.Head) {
	t.Helper()
	put(t, w, job.Definition{Job: ref.Job, Schedule: job.Schedule{Every: job.Duration(20 * time.Second)}})
	if made, err := w.Control.Store.Head(t.Context(), ref); err != nil || made.Epoch <= before.Epoch || made.Revision != before.Revision+1 {
		t.Errorf("made again it has epoch %d and revision %d, %v", made.Epoch, made.Revision, err)
	}
	w.Start(t.Context())
	time.Sleep(5 * time.Minute)
	w.Stop()
	ran := 0
	for _, r := range w.Runs() {
		if r.Ref == ref && r.Epoch > before.Epoch {
			ran++
		}
	}
	if ran < 14 {
		t.Errorf("made again it ran %d times in five minutes", ran)
	}
}

// itemsOf counts what the jobs table holds of a job.
func itemsOf(t *testing.T, w *sim.World, ref job.Ref) (count int) {
	t.Helper()
	for _, stored := range scanned(t, w, w.Control.Store.Tables().Jobs) {
		if pk, is := stored["pk"].(*ddbtypes.AttributeValueMemberS); is && pk.Value == ref.String() {
			count++
		}
	}
	return count
}
