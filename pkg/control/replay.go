package control

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// ReplayRequest asks for a repetition of one dead letter.
type ReplayRequest struct {
	Ref   job.Ref
	Key   job.Key
	Actor string
	// IdempotencyKey makes the request safe to repeat for as long as the replay is
	// kept: the same word gives the same replay. Empty: each request makes another.
	IdempotencyKey string
	FromScratch    bool // it does not go on from what the execution it repeats has saved
}

// Replay makes a new execution that repeats a dead letter: under the job's current
// revision as a whole, with the same scheduled time, data interval and business
// idempotency key, whether or not the job is paused. Both name each other.
func (s *Service) Replay(ctx context.Context, r ReplayRequest) (*job.Execution, error) {
	if err := s.Jobs.Restored(ctx); err != nil {
		return nil, err
	}
	run := "one " + r.IdempotencyKey // no run of many is called so: that is a ULID
	if r.IdempotencyKey == "" {
		serial, err := s.serial()
		if err != nil {
			return nil, err
		}
		run = serial
	}
	e, _, err := s.replay(ctx, r.Ref, r.Key, run, r.Actor, false, r.FromScratch)
	return e, err
}

// errDealtWith says that a dead letter is no longer open.
var errDealtWith = errors.New("it has been replayed or closed meanwhile")

func (s *Service) serial() (string, error) {
	serial, err := ulid.New(ulid.Timestamp(s.Clock.Now()), s.Entropy)
	return serial.String(), err
}

// replay makes the replay that a run makes of an execution, and sends it. One that
// the run has made before is returned as it is; false tells so. With open, one that
// somebody else has dealt with meanwhile is errDealtWith.
func (s *Service) replay(ctx context.Context, ref job.Ref, key job.Key, run, actor string, open, scratch bool) (*job.Execution, bool, error) {
	for try := 0; ; try++ {
		of, err := s.Executions.Execution(ctx, ref, key)
		if err != nil {
			return nil, false, err
		}
		if of == nil {
			return nil, false, executionNotFound(ref, key)
		}
		replayKey, err := job.RepeatKey(run, key)
		if err != nil {
			return nil, false, err
		}
		if there, err := s.Executions.Execution(ctx, ref, replayKey); err != nil || there != nil {
			return there, false, err
		}
		if err := replayable(of); err != nil {
			return nil, false, err
		}
		if open && !lifecycle.AwaitsPerson(of) {
			return nil, false, errDealtWith
		}
		e, err := s.replayOf(ctx, of, replayKey, actor)
		if err != nil {
			return nil, false, err
		}
		e.FromScratch = scratch
		made, err := s.DeadLetters.PutReplay(ctx, of, e, audited(of, "replay", actor, "", e.CreatedAt))
		if errors.Is(err, job.ErrLost) && try < maxTries {
			continue
		}
		if err != nil || !made {
			return e, made, err
		}
		err = s.Sender.Send(ctx, e)
		s.Tracer.Materialised(ctx, e, s.Clock.Now(), err)
		return e, true, err
	}
}

// replayable refuses what is no dead letter, and what has been replayed too often.
func replayable(of *job.Execution) error {
	switch {
	case of.Kind == job.KindChild:
		return &job.Error{Code: job.CodeStateConflict, Field: "id", Value: of.ID(), Message: "a child is not replayed by itself: its page has counted it as failed",
			Fix: "replay what runs after the children, or run the job anew: " + job.ID(of.Job, job.ReduceKey(of.Parent()), of.Revision)}
	case !lifecycle.DeadLetter(of.Status):
		return notWaiting(of, "replayed", instead(of))
	case len(of.ReplayedBy) >= job.MaxReplays:
		return &job.Error{Code: job.CodeStateConflict, Field: "replayed_by", Value: strconv.Itoa(len(of.ReplayedBy)) + " replays", Bound: strconv.Itoa(job.MaxReplays) + " replays",
			Message: "the execution has been replayed too often", Fix: "replay the latest of its replays instead, which can be replayed as often again"}
	}
	return nil
}

// replayOf is the replay of an execution as it is to be stored. It stands for what
// the first of the chain stands for, whoever repeats whom.
func (s *Service) replayOf(ctx context.Context, of *job.Execution, key job.Key, actor string) (*job.Execution, error) {
	head, err := s.Jobs.Head(ctx, of.Ref)
	if err != nil {
		return nil, err
	}
	if head == nil || head.State == job.Deleted {
		return nil, &job.Error{Code: job.CodeStateConflict, Field: "job", Value: of.Job, Message: "the job \"" + job.Shorten(of.Job) + "\" is deleted: there is nothing to run the replay with",
			Fix: "make the job again, or close the dead letter with: belfry dead resolve"}
	}
	now := s.Clock.Now().Truncate(time.Millisecond)
	e := &job.Execution{Ref: of.Ref, Key: key, Revision: head.RevisionAt(now), Epoch: head.Epoch, Status: job.Scheduled, Pool: head.Pool, Type: head.Type, Target: head.Target,
		CreatedAt: now, AvailableAt: now, Reason: lifecycle.Replayed, Actor: actor, Wake: job.Wake{At: now.Add(wakeAfter)}, Schema: job.Schema,
		FencingToken: max(job.RestoreBase(s.RestoreEpoch), of.FencingToken), ReplayOf: cmp.Or(of.ReplayOf, of.ID())}
	e.PayloadRef = of.PayloadRef
	if of.ReplayOf != "" {
		e.ReplayedFrom = of.ID()
	}
	e.Timeline = []job.Entry{{At: now, To: job.Scheduled, Reason: lifecycle.Replayed, Actor: actor}}
	e.Covers, err = s.coveredBy(ctx, of, e.Revision)
	return e, err
}

// coveredBy is where the data interval of an execution begins, for a replay under a
// revision: the schedule of that one may have other times. Zero: it follows from the
// revision, as ever.
func (s *Service) coveredBy(ctx context.Context, of *job.Execution, revision int) (time.Time, error) {
	stands := of.Stands()
	if !of.Covers.IsZero() || of.Revision == revision || stands.Kind != job.KindScheduled {
		return of.Covers, nil
	}
	rev, err := s.Jobs.Revision(ctx, of.Ref, of.Revision)
	if err != nil || rev == nil {
		return time.Time{}, err
	}
	plan, err := s.Zones.OfRevision(rev)
	if err != nil {
		return time.Time{}, nil //nolint:nilerr // a schedule that can no longer be evaluated tells no interval
	}
	start, _ := plan.Prev(stands.ScheduledAt)
	return start, nil
}
