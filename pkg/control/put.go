package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// Action says what a Put did, or would do.
type Action string

// The actions of a Put.
const (
	Created   Action = "created"
	Updated   Action = "updated"
	Unchanged Action = "unchanged"
)

// PutRequest creates a job or gives it a new revision.
type PutRequest struct {
	Ref        job.Ref
	Definition job.Definition
	Actor      string
	IfMatch    int  // revision that must be current; 0 = any
	IfAbsent   bool // refuse when the job exists
	DryRun     bool // only say what would happen
	// EffectiveAt is when an edit takes effect: times up to it are those of the
	// definition before. Whole seconds; zero, or not in the future: at once.
	EffectiveAt time.Time
	// Calendars are tried in place of the stored ones of their names, in a dry run
	// alone.
	Calendars []job.Calendar
}

// PutResult tells what a Put did: the head afterwards (before, in a dry run)
// and which of the coming scheduled times appear and vanish.
type PutResult struct {
	Action Action
	Head   *job.Head
	Next   time.Time // the job's next scheduled time; zero = none, or a job that does not run
	Appear []time.Time
	Vanish []time.Time
	// TakenBack is when a definition that waited would have taken over, had this
	// change not taken it back or put another one in its place; zero = none waited.
	TakenBack time.Time
}

// Put creates the job or edits it. The same definition again changes nothing
// but repeats the clean-up, so a Put that failed half-way is safe to repeat.
func (s *Service) Put(ctx context.Context, r PutRequest) (PutResult, error) {
	definition, err := s.check(r)
	if err != nil {
		return PutResult{}, err
	}
	var result PutResult
	head, err := s.onHead(ctx, r.Ref, r.Actor, func(head *job.Head, now time.Time) (plan, error) {
		var p plan
		result, p, err = s.decidePut(ctx, r, definition, head, now)
		if err == nil && r.DryRun {
			err = errDryRun
		}
		return p, err
	})
	if errors.Is(err, errDryRun) {
		return result, nil
	}
	if err != nil {
		return PutResult{}, err
	}
	result.Head = head
	return result, nil
}

// errDryRun ends a verb before its write.
var errDryRun = errors.New("dry run")

// check refuses a definition that could never run here.
func (s *Service) check(r PutRequest) (job.Definition, error) {
	if err := job.CheckName("tenant", r.Ref.Tenant); err != nil {
		return job.Definition{}, err
	}
	if err := checkTried(r); err != nil {
		return job.Definition{}, err
	}
	definition := r.Definition
	if definition.Job == "" {
		definition.Job = r.Ref.Job
	}
	if definition.Job != r.Ref.Job {
		return job.Definition{}, &job.Error{Code: job.CodeInvalid, Field: "job", Value: job.Shorten(definition.Job),
			Message: "the definition names job \"" + job.Shorten(definition.Job) + "\" but was sent to \"" + job.Shorten(r.Ref.Job) + "\"", Fix: "use one name"}
	}
	definition = definition.WithDefaults()
	if len(definition.Payload) > 0 {
		var compact bytes.Buffer
		if json.Compact(&compact, definition.Payload) == nil {
			definition.Payload = compact.Bytes()
		}
	}
	if err := definition.Validate(); err != nil {
		return job.Definition{}, err
	}
	if err := s.checkPayload(r.Ref.Tenant, definition.PayloadRef); err != nil {
		return job.Definition{}, err
	}
	if err := job.CheckType(s.Types, definition.Type); err != nil {
		return job.Definition{}, err
	}
	ceiling, known := s.Pools.Ceiling(definition.Pool)
	if !known {
		return job.Definition{}, &job.Error{Code: job.CodeInvalid, Field: "pool", Value: definition.Pool, Bound: strings.Join(s.Pools.Names(), ", "),
			Message: "there is no pool \"" + definition.Pool + "\"", Fix: "choose one of the pools"}
	}
	if definition.Timeout.Std() > ceiling {
		return job.Definition{}, &job.Error{Code: job.CodeInvalid, Field: "timeout", Value: definition.Timeout.String(), Bound: job.Duration(ceiling).String(),
			Message: "the timeout is longer than pool " + definition.Pool + " allows", Fix: "choose up to " + job.Duration(ceiling).String() + ", or another pool"}
	}
	return definition, nil
}

func (s *Service) decidePut(ctx context.Context, r PutRequest, d job.Definition, head *job.Head, now time.Time) (PutResult, plan, error) {
	pinned, err := s.pin(ctx, r.Ref.Tenant, d.Schedule, r.Calendars...)
	if err != nil {
		return PutResult{}, plan{}, err
	}
	if head == nil || head.State == job.Deleted {
		if r.IfMatch != 0 {
			return PutResult{}, plan{}, notFound(r.Ref)
		}
		if r.EffectiveAt.After(now) {
			return PutResult{}, plan{}, &job.Error{Code: job.CodeInvalid, Field: "effective_at", Value: r.EffectiveAt.UTC().Format(time.RFC3339), Bound: "of a job that there is",
				Message: "there is no job \"" + r.Ref.Job + "\" whose times would stay as they are until then", Fix: "leave effective_at out; schedule.start is when a job's times begin"}
		}
		return s.create(r, d, pinned, head, now)
	}
	if r.IfAbsent {
		return PutResult{}, plan{}, &job.Error{Code: job.CodeAlreadyExists, Field: "job", Value: r.Ref.Job,
			Message: "there is a job \"" + r.Ref.Job + "\" already", Fix: "edit it, or choose another name"}
	}
	if err := checkMatch(head, r.IfMatch); err != nil {
		return PutResult{}, plan{}, err
	}
	return s.edit(ctx, r, d, pinned, head, now)
}

func checkMatch(head *job.Head, ifMatch int) error {
	if ifMatch == 0 || ifMatch == head.Revision {
		return nil
	}
	return &job.Error{Code: job.CodeRevisionConflict, Field: "revision", Value: fmt.Sprint(ifMatch), Bound: fmt.Sprint(head.Revision),
		Message: fmt.Sprintf("the job is at revision %d, not %d", head.Revision, ifMatch), Fix: "read it again and apply the change to what is there"}
}

func (s *Service) create(r PutRequest, d job.Definition, pinned []job.PinnedCalendar, tombstone *job.Head, now time.Time) (PutResult, plan, error) {
	anchor := now.Truncate(time.Second)
	compiled, err := s.Zones.CompileUnder(d.Schedule, anchor, pinned)
	if err != nil {
		return PutResult{}, plan{}, err
	}
	if err := schedule.FiresAfter(compiled, now); err != nil {
		return PutResult{}, plan{}, err
	}
	next := job.Head{Ref: r.Ref, Epoch: job.RestoreBase(s.RestoreEpoch), CreatedAt: now}
	if tombstone != nil {
		next.Epoch, next.Revision, next.SettledUpto = max(next.Epoch, tombstone.Epoch), tombstone.Revision, tombstone.SettledUpto
	}
	next = lifecycle.Raised(next, r.Actor, now, true)
	next.State = job.Enabled
	next.NextFireAt, _ = compiled.Next(now)
	if d.Paused {
		next.State, next.NextFireAt = job.Paused, time.Time{}
		stop(&next, nil, now)
	}
	next.Revision++
	next.Follow(d, anchor)
	rev := &job.Revision{Ref: r.Ref, Number: next.Revision, Epoch: next.Epoch, Definition: d, Anchor: anchor, CreatedAt: now, CreatedBy: r.Actor, TZDB: s.Zones.Version(), Calendars: pinned}
	result := PutResult{Action: Created, Head: &next}
	result.compare(nil, running(&next, schedule.Course{{Plan: compiled}}), now)
	return result, plan{next: next, revision: rev, fresh: pinned, verb: "create"}, nil
}

func (s *Service) edit(ctx context.Context, r PutRequest, d job.Definition, pinned []job.PinnedCalendar, head *job.Head, now time.Time) (PutResult, plan, error) {
	old, err := s.Jobs.Revision(ctx, r.Ref, head.Revision)
	if err != nil {
		return PutResult{}, plan{}, err
	}
	if now.Before(head.SwitchedAt) {
		return PutResult{}, plan{}, switchesSoon(head, "edit")
	}
	if r.EffectiveAt.After(now) {
		return s.editLater(ctx, r, d, pinned, head, old, now)
	}
	if old != nil && head.SwitchAt.IsZero() && sameDefinition(old.Definition.WithDefaults(), d) && samePins(old.Calendars, pinned) { // an older build knew fewer defaults
		if !r.DryRun {
			err = s.mendUses(ctx, head)
		}
		return PutResult{Action: Unchanged, Head: head}, plan{settled: true}, err
	}
	anchor := anchorAfter(head, d, now)
	compiled, err := s.Zones.CompileUnder(d.Schedule, anchor, pinned)
	if err != nil {
		return PutResult{}, plan{}, err
	}
	if err := schedule.FiresAfter(compiled, now); err != nil {
		return PutResult{}, plan{}, err
	}
	wasPaused := old != nil && old.Definition.Paused
	next := lifecycle.Raised(*head, r.Actor, now, d.Paused != wasPaused)
	next.State, next.SwitchAt, next.SwitchedAt, next.Waits = stateAfterEdit(head, d.Paused, wasPaused), time.Time{}, time.Time{}, nil
	next.NextFireAt = time.Time{}
	switch next.State {
	case job.Enabled:
		next.StoppedAt = time.Time{}
		next.NextFireAt, _ = compiled.Next(now)
	case job.Paused:
		stop(&next, head, now)
	case job.Suspended, job.Broken, job.Completed, job.Deleted:
	}
	next.Revision++
	next.Follow(d, anchor)
	rev := &job.Revision{Ref: r.Ref, Number: next.Revision, Epoch: next.Epoch, Definition: d, Anchor: anchor, CreatedAt: now, CreatedBy: r.Actor,
		TZDB: s.Zones.Version(), Calendars: pinned, CarryUntil: carryBound(head, now)}
	lifecycle.PassOver(&next, head, now, lifecycle.JobEdited)
	before, err := s.courseBefore(ctx, head, now)
	if err != nil {
		return PutResult{}, plan{}, err
	}
	result := PutResult{Action: Updated, Head: &next, TakenBack: head.SwitchAt}
	result.compare(before, running(&next, schedule.Course{{Plan: compiled}}), now, head.SwitchAt)
	return result, plan{next: next, revision: rev, fresh: pinned, verb: "edit"}, nil
}

// anchorAfter is the phase of `every` after an edit that takes effect at a
// moment: a changed interval begins there, any other edit keeps it.
func anchorAfter(head *job.Head, d job.Definition, at time.Time) time.Time {
	if d.Schedule.Every != head.Schedule.Every {
		return at.Truncate(time.Second)
	}
	return head.Anchor
}

// stateAfterEdit keeps the state that somebody chose: an edit enables a job
// only when it was enabled, had run out of times or was broken, or when the
// definition itself stops being paused.
func stateAfterEdit(head *job.Head, paused, wasPaused bool) job.State {
	switch {
	case paused && !wasPaused:
		return job.Paused
	case !paused && wasPaused && head.State == job.Paused:
		return job.Enabled
	case head.State == job.Completed || head.State == job.Broken:
		return job.Enabled
	}
	return head.State
}

// carryBound is the last time of the old revision that may still begin after
// this edit: not after the edit itself, and before the cursor that it found.
func carryBound(head *job.Head, now time.Time) time.Time {
	if !head.NextFireAt.IsZero() && !head.NextFireAt.After(now) {
		return head.NextFireAt.Add(-time.Second)
	}
	return now
}

func sameDefinition(a, b job.Definition) bool {
	left, errLeft := json.Marshal(a)
	right, errRight := json.Marshal(b)
	return errLeft == nil && errRight == nil && bytes.Equal(left, right)
}
