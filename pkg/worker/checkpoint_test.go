package worker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

// copied is how far a copy has come.
type copied struct {
	Page int
}

func TestAHandlerGoesOnWhereItsLastAttemptSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		var pages []int
		worker.Handle(b.worker, "work", func(ctx context.Context, a *worker.Attempt) error {
			var done copied
			if _, err := a.Load(ctx, &done); err != nil {
				return err
			}
			for page := done.Page + 1; page <= 9; page++ {
				if page == 3*a.Number()+1 {
					return fmt.Errorf("attempt %d ends before page %d", a.Number(), page)
				}
				pages = append(pages, page)
				if err := a.Save(ctx, copied{page}); err != nil {
					return err
				}
			}
			return nil
		})
		at := soon(0)
		ref := b.oneOff("copy", at, nil)
		b.start()
		time.Sleep(time.Minute)
		b.quit()
		if e := b.execution(ref, at); e.Status != job.Succeeded || e.Attempt != 3 || !slices.Equal(pages, []int{1, 2, 3, 4, 5, 6, 7, 8, 9}) {
			t.Errorf("%s after %d attempts, which copied %v", e.Status, e.Attempt, pages)
		}
	})
}

func TestWhatCannotBeEncodedOrDecodedIsAnErrorOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		worker.Handle(b.worker, "work", func(ctx context.Context, a *worker.Attempt) error {
			if err := a.Save(ctx, make(chan int)); err == nil || ctx.Err() != nil {
				t.Errorf("a channel is saved: %v, %v", err, ctx.Err())
			}
			if err := a.SaveBytes(ctx, []byte("no JSON")); err != nil {
				t.Error(err)
			}
			var into copied
			if found, err := a.Load(ctx, &into); found || err == nil {
				t.Errorf("what is no JSON decodes: %v, %v", found, err)
			}
			if content, found, err := a.LoadBytes(ctx); string(content) != "no JSON" || !found || err != nil {
				t.Errorf("its bytes are %q, %v, %v", content, found, err)
			}
			return nil
		})
		at := soon(0)
		ref := b.oneOff("odd", at, nil)
		b.start()
		time.Sleep(5 * time.Second)
		b.quit()
		if e := b.execution(ref, at); e.Status != job.Succeeded {
			t.Errorf("%s", e.Status)
		}
	})
}

func TestAnAttemptOutsideOfAWorkerSaysThatItKeepsNothing(t *testing.T) {
	a := workertest.Attempt(workertest.Facts{})
	var refused *job.Error
	if err := a.Save(t.Context(), copied{}); !errors.As(err, &refused) || refused.Code != job.CodeNotSupported {
		t.Errorf("saving answers %v", err)
	}
	if _, err := a.Load(t.Context(), &copied{}); !errors.As(err, &refused) || refused.Code != job.CodeNotSupported {
		t.Errorf("loading answers %v", err)
	}
}
