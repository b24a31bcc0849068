package control

import (
	"context"
	"fmt"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// furthestSwitch bounds how far ahead an edit may take effect.
const furthestSwitch = 366 * 24 * time.Hour

// editLater lets a definition wait until r.EffectiveAt. The job goes on under
// what it has, in a revision of its own: the claim rule asks for the first edit
// after a revision, so what has not begun is bound as after any edit, and the
// switch-over, made by a scan, is the first edit after that one.
func (s *Service) editLater(ctx context.Context, r PutRequest, d job.Definition, pinned []job.PinnedCalendar, head *job.Head, old *job.Revision, now time.Time) (PutResult, plan, error) {
	if err := checkLater(r, d, head, old, now); err != nil {
		return PutResult{}, plan{}, err
	}
	if head.SwitchAt.Equal(r.EffectiveAt) {
		waiting, err := s.waitingFor(ctx, head)
		if err != nil {
			return PutResult{}, plan{}, err
		}
		if waiting != nil && sameDefinition(waiting.Definition.WithDefaults(), d) && samePins(waiting.Calendars, pinned) {
			return PutResult{Action: Unchanged, Head: head}, plan{settled: true}, nil
		}
	}
	anchor := anchorAfter(head, d, r.EffectiveAt)
	then, err := s.Zones.CompileUnder(d.Schedule, anchor, pinned)
	if err != nil {
		return PutResult{}, plan{}, err
	}
	if err := schedule.FiresAfter(then, r.EffectiveAt); err != nil {
		return PutResult{}, plan{}, err
	}
	first, err := s.PlanOf(ctx, head)
	if err != nil {
		return PutResult{}, plan{}, err
	}
	next := lifecycle.Raised(*head, r.Actor, now, false)
	next.Revision++
	next.SwitchAt, next.SwitchedAt, next.Waits = r.EffectiveAt, time.Time{}, d.Schedule.Calendars()
	if next.State == job.Enabled {
		next.NextFireAt = cursorAfter(&next, first, now)
	}
	kept := *old
	kept.Number, kept.Epoch, kept.CreatedAt, kept.CreatedBy, kept.CarryUntil = next.Revision, next.Epoch, now, r.Actor, carryBound(head, now)
	waiting := &job.Revision{Ref: r.Ref, Epoch: next.Epoch, Definition: d, Anchor: anchor, CreatedAt: now, CreatedBy: r.Actor,
		TZDB: s.Zones.Version(), Calendars: pinned, CarryUntil: r.EffectiveAt}
	lifecycle.PassOver(&next, head, now, lifecycle.JobEdited)
	before, err := s.courseBefore(ctx, head, now)
	if err != nil {
		return PutResult{}, plan{}, err
	}
	result := PutResult{Action: Updated, Head: &next, TakenBack: head.SwitchAt}
	result.compare(before, running(&next, schedule.Course{{Plan: first, Upto: r.EffectiveAt}, {Plan: then}}), now, head.SwitchAt, r.EffectiveAt)
	return result, plan{next: next, revision: &kept, waiting: waiting, fresh: pinned, verb: "edit"}, nil
}

// checkLater refuses what cannot wait.
func checkLater(r PutRequest, d job.Definition, head *job.Head, old *job.Revision, now time.Time) error {
	refuse := func(value, bound, message, fix string) error {
		return &job.Error{Code: job.CodeInvalid, Field: "effective_at", Value: value, Bound: bound, Message: message, Fix: fix}
	}
	at := r.EffectiveAt.UTC().Format(time.RFC3339Nano)
	switch {
	case !r.EffectiveAt.Equal(r.EffectiveAt.Truncate(time.Second)):
		return refuse(at, "whole seconds", "a switch-over takes place at a whole second", "leave the fraction out")
	case r.EffectiveAt.After(now.Add(furthestSwitch)):
		return refuse(at, "a year ahead", "the switch-over lies more than a year ahead", "choose a nearer time")
	case head.State != job.Enabled && head.State != job.Paused && head.State != job.Suspended:
		return stateConflict(head, "change later", "edit it at once, without effective_at")
	case old == nil:
		return &job.Error{Code: job.CodeUnavailable, Field: "revision", Value: fmt.Sprint(head.Revision), Message: "the job's revision is not there", Fix: "edit it at once, without effective_at"}
	case d.Paused != old.Definition.Paused:
		return refuse(at, "not together with paused", "paused cannot change later", "pause or resume it at that time")
	}
	return nil
}

// switchesSoon refuses a verb between a switch-over, which a scan makes minutes
// ahead, and its moment: the times between are still those of the revision before.
func switchesSoon(head *job.Head, verb string) error {
	at := head.SwitchedAt.UTC().Format(time.RFC3339)
	return &job.Error{Code: job.CodeStateConflict, Field: "switch_at", Value: at,
		Message: "the job is about to switch to revision " + fmt.Sprint(head.Revision) + " at " + at, Fix: verb + " it after that"}
}

// cursorAfter is the first time of a head's schedule after a moment, which ends
// where a definition that waits takes over.
func cursorAfter(head *job.Head, compiled *schedule.Plan, from time.Time) time.Time {
	if head.SwitchAt.IsZero() {
		next, _ := compiled.Next(from)
		return next
	}
	if next, ok := compiled.Upto(head.SwitchAt).Next(from); ok {
		return next
	}
	next := head.AfterSwitch()
	if next.After(from) {
		return next
	}
	return from.Truncate(time.Second).Add(time.Second) // the moment passed while the job stood still
}
