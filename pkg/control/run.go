package control

import (
	"context"
	"errors"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// wakeAfter is when the wake scan looks at a manual run whose message may not
// have been sent.
const wakeAfter = 60 * time.Second

// RunRequest asks for one execution now.
type RunRequest struct {
	Ref   job.Ref
	Actor string
	// IdempotencyKey makes the request safe to repeat for a day: the same word
	// gives the same execution. Empty: each request makes another one.
	IdempotencyKey string
	// PayloadRef is where this execution's payload lies, in place of the job's own;
	// empty: the job's.
	PayloadRef string
}

// RunNow makes one execution of the job at once, whatever its schedule and
// whether or not it is paused. It has a key of its own, so it never stands in
// for a scheduled time.
func (s *Service) RunNow(ctx context.Context, r RunRequest) (*job.Execution, error) {
	ref, actor := r.Ref, r.Actor
	if err := s.Jobs.Restored(ctx); err != nil {
		return nil, err
	}
	head, err := s.Jobs.Head(ctx, ref)
	if err != nil {
		return nil, err
	}
	if head == nil || head.State == job.Deleted {
		return nil, notFound(ref)
	}
	now := s.Clock.Now().Truncate(time.Millisecond)
	if err := s.checkRunPayload(ctx, head, r.PayloadRef, now); err != nil {
		return nil, err
	}
	serial, err := ulid.New(ulid.Timestamp(now), s.Entropy)
	if err != nil {
		return nil, err
	}
	key := job.SerialKey(job.KindManual, serial)
	if r.IdempotencyKey != "" {
		if key, err = s.Requests.Remember(ctx, ref, r.IdempotencyKey, key, now); err != nil {
			return nil, err
		}
		if made, err := s.Executions.Execution(ctx, ref, key); err != nil || made != nil {
			return made, err
		}
	}
	e := &job.Execution{Ref: ref, Key: key, Revision: head.RevisionAt(now), Epoch: head.Epoch, Status: job.Scheduled,
		Pool: head.Pool, Type: head.Type, Target: head.Target, CreatedAt: now, AvailableAt: now, Reason: lifecycle.ManualRun, Actor: actor,
		FencingToken: job.RestoreBase(s.RestoreEpoch), Wake: job.Wake{At: now.Add(wakeAfter)}, Schema: job.Schema, PayloadRef: r.PayloadRef}
	e.Timeline = []job.Entry{{At: now, To: job.Scheduled, Reason: lifecycle.ManualRun, Actor: actor}}
	if err := s.Executions.PutOutside(ctx, e); err != nil {
		return nil, err
	}
	err = s.Sender.Send(ctx, e)
	s.Tracer.Materialised(ctx, e, s.Clock.Now(), err)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Cancel ends an execution that has not begun or is waiting for a retry at
// once, and asks a running one to stop. An ended one is a conflict.
func (s *Service) Cancel(ctx context.Context, ref job.Ref, key job.Key, actor string) (*job.Execution, error) {
	for try := 0; ; try++ {
		e, err := s.Executions.Execution(ctx, ref, key)
		if err != nil {
			return nil, err
		}
		if e == nil {
			return nil, executionNotFound(ref, key)
		}
		now := s.Clock.Now()
		switch {
		case e.Status == job.Running && e.Cancel != nil:
			return e, nil
		case e.Status == job.Running:
			err = s.Executions.RequestCancel(ctx, e, job.Cancel{At: now, By: actor, Reason: lifecycle.CancelRequested})
		case e.Status == job.Scheduled || e.Status == job.RetryWait:
			err = s.Executions.Close(ctx, e, lifecycle.CanceledBy(now, actor))
		case e.Status == job.Succeeded && e.FannedOut:
			return s.cancelChildren(ctx, e, job.Cancel{At: now, By: actor, Reason: lifecycle.CancelRequested})
		default:
			fix := "only SCHEDULED, RETRY_WAIT and RUNNING executions can be"
			if e.Status == job.NeedsReview {
				fix = instead(e)[job.NeedsReview]
			}
			return nil, notWaiting(e, "canceled", fixes{e.Status: fix})
		}
		if errors.Is(err, job.ErrLost) && try < maxTries {
			continue
		}
		if err != nil {
			return nil, err
		}
		return s.Executions.Execution(ctx, ref, key)
	}
}

func executionNotFound(ref job.Ref, key job.Key) error {
	return &job.Error{Code: job.CodeNotFound, Field: "id", Value: key.String(), Message: "job \"" + job.Shorten(ref.Job) + "\" has no such execution",
		Fix: "list them with: belfry executions list " + job.Shorten(ref.Job)}
}
