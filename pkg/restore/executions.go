package restore

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// rearmPage judges one page of the executions and carries the judgements out.
func (s *Service) rearmPage(ctx context.Context, p job.Part, actor string) (next string, did counts, err error) {
	found, next, err := s.Executions.EveryExecution(ctx, p, page)
	if err != nil {
		return "", did, err
	}
	lives, err := s.livesOf(ctx, found)
	if err != nil {
		return "", did, err
	}
	var mu sync.Mutex
	now := s.Clock.Now()
	err = each(len(found), func(i int) error {
		act, err := s.repair(ctx, found[i], lives[found[i].Ref], actor, now)
		mu.Lock()
		defer mu.Unlock()
		switch act {
		case rearm:
			did.rearmed++
		case withdraw:
			did.withdrawn++
		case giveUp:
			did.givenUp++
		case leave:
		}
		return err
	})
	did.executions = len(found)
	return next, did, err
}

// repair settles one execution. One that has changed meanwhile was repaired by
// another caller: nobody else writes now.
func (s *Service) repair(ctx context.Context, e *job.Execution, l life, actor string, now time.Time) (act, error) {
	f := facts{execution: e, head: l.head, plan: l.plan, base: s.base(), now: now}
	if l.head != nil && e.Kind == job.KindScheduled && e.Status == job.Scheduled && e.Epoch >= l.head.RunsFrom && e.Epoch < l.head.Epoch {
		after, err := s.Jobs.Revision(ctx, e.Ref, e.Revision+1)
		if err != nil {
			return leave, err
		}
		f.carry = after.Carries()
	}
	if e.Kind == job.KindChild && lifecycle.Terminal(e.Status) {
		open, err := s.Families.Unfinished(ctx, e.Ref, e.Parent())
		if err != nil {
			return leave, err
		}
		f.open = open
	}
	j := judge(f)
	if j.lost > 0 {
		if err := s.Jobs.NoteLostRevision(ctx, e.Ref, j.lost); err != nil {
			return leave, err
		}
	}
	var err error
	switch j.act {
	case leave:
		return leave, nil
	case rearm:
		j.rearm.At, j.rearm.Actor = now, actor
		err = s.Executions.Rearm(ctx, e, j.rearm)
	case withdraw:
		err = s.Executions.Close(ctx, e, lifecycle.WithdrawnBy(now, actor, lifecycle.Restored))
	case giveUp:
		err = s.Executions.Close(ctx, e, lifecycle.GivenUp(now, actor, lifecycle.Restored,
			lifecycle.Failure{Code: string(lifecycle.Restored), Text: "its job is not in the backup"}))
	}
	if errors.Is(err, job.ErrLost) {
		return leave, nil
	}
	return j.act, err
}

// life is a job as the backup has it.
type life struct {
	head *job.Head
	plan *schedule.Plan
}

// livesOf reads the jobs of a page's executions. A schedule that cannot be
// evaluated wants no time; the scan disables that job with its reason.
func (s *Service) livesOf(ctx context.Context, found []*job.Execution) (map[job.Ref]life, error) {
	lives := map[job.Ref]life{}
	var refs []job.Ref
	for _, e := range found {
		if _, known := lives[e.Ref]; !known {
			lives[e.Ref] = life{}
			refs = append(refs, e.Ref)
		}
	}
	heads, err := s.Jobs.Heads(ctx, refs)
	if err != nil {
		return nil, err
	}
	for _, head := range heads {
		plan, err := s.planOf(ctx, head)
		if err != nil && job.CodeOf(err).Class() != job.ClassRefused {
			return nil, err
		}
		if err != nil {
			s.log().Warn("the schedule of a restored job cannot be evaluated", slog.String("job", head.Ref.String()), slog.Any("error", err))
			plan = nil
		}
		if plan != nil && !head.SwitchAt.IsZero() {
			plan = plan.Upto(head.SwitchAt) // what follows the switch-over is made by the cursor
		}
		lives[head.Ref] = life{head, plan}
	}
	return lives, nil
}
