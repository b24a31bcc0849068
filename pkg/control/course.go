package control

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// CourseOf is a job's scheduled times as they will come. A definition that waits has
// those after its moment, and from when a scan lets it take over, minutes ahead,
// until that moment the revision before still has its own.
func (s *Service) CourseOf(ctx context.Context, head *job.Head) (schedule.Course, error) {
	plan, err := s.PlanOf(ctx, head)
	if err != nil {
		return nil, err
	}
	course := schedule.Course{{Plan: plan, Upto: head.SwitchAt}}
	if s.Clock.Now().Before(head.SwitchedAt) {
		before, err := s.Jobs.Revision(ctx, head.Ref, head.Revision-1)
		if err != nil {
			return nil, err
		}
		return s.join(before, head.SwitchedAt, nil, course)
	}
	if head.SwitchAt.IsZero() {
		return course, nil
	}
	waiting, err := s.waitingFor(ctx, head)
	if err != nil {
		return nil, err
	}
	return s.join(waiting, time.Time{}, course, nil)
}

// join puts a revision between two parts of a course; one that is absent leaves
// nothing to show.
func (s *Service) join(rev *job.Revision, upto time.Time, first, last schedule.Course) (schedule.Course, error) {
	if rev == nil {
		return append(first, last...), nil
	}
	plan, err := s.Zones.OfRevision(rev)
	if err != nil {
		return nil, err
	}
	return append(append(first, schedule.Leg{Plan: plan, Upto: upto}), last...), nil
}

// waitingFor is the definition that takes over at the head's SwitchAt; nil when none
// does.
func (s *Service) waitingFor(ctx context.Context, head *job.Head) (*job.Revision, error) {
	if head.SwitchAt.IsZero() {
		return nil, nil
	}
	waiting, err := s.Jobs.Waiting(ctx, head.Ref)
	if err != nil || waiting == nil || !waiting.CarryUntil.Equal(head.SwitchAt) {
		return nil, err
	}
	return waiting, nil
}

// farFuture bounds the look ahead of previews.
var farFuture = time.Date(2099, 12, 31, 23, 59, 59, 0, time.UTC)

// compareTimes is how many coming times of each schedule an edit compares.
const compareTimes = 20

// running is the course of a job that is enabled; any other has no times.
func running(head *job.Head, course schedule.Course) schedule.Course {
	if head.State != job.Enabled {
		return nil
	}
	return course
}

// courseBefore is what a change is compared with: none for a job whose schedule can
// no longer be evaluated, which is what the change may be about.
func (s *Service) courseBefore(ctx context.Context, head *job.Head, now time.Time) (schedule.Course, error) {
	course, err := s.CourseOf(ctx, head)
	if known := (*job.Error)(nil); err != nil && (!errors.As(err, &known) || known.Code.Class() == job.ClassBusy) {
		return nil, err
	}
	was := *head
	was.State = head.StateAt(now)
	return running(&was, course), nil
}

// compare notes what a change does to the coming times of a job.
func (r *PutResult) compare(before, after schedule.Course, now time.Time, moments ...time.Time) {
	r.Next, _ = after.Next(now)
	slices.SortFunc(moments, time.Time.Compare)
	r.Appear, r.Vanish = compared(before, after, now, moments...)
}

// compared tells which coming times a change adds and removes, over the span that
// both lists of coming times cover. What begins to differ later than the first times
// do is looked for behind each of the moments at which it may. A nil course has no
// times.
func compared(before, after schedule.Course, now time.Time, moments ...time.Time) (appear, vanish []time.Time) {
	for _, from := range append([]time.Time{now}, moments...) {
		if from.Before(now) {
			continue
		}
		was, will := before.Between(from, farFuture, compareTimes), after.Between(from, farFuture, compareTimes)
		bound := farFuture
		for _, list := range [][]time.Time{was, will} {
			if len(list) == compareTimes && list[compareTimes-1].Before(bound) {
				bound = list[compareTimes-1]
			}
		}
		appear, vanish = without(will, was, bound), without(was, will, bound)
		if len(appear)+len(vanish) > 0 {
			break
		}
	}
	return appear, vanish
}

func without(list, other []time.Time, bound time.Time) []time.Time {
	seen := map[int64]bool{}
	for _, t := range other {
		seen[t.Unix()] = true
	}
	var left []time.Time
	for _, t := range list {
		if !seen[t.Unix()] && !t.After(bound) {
			left = append(left, t)
		}
	}
	return left
}
