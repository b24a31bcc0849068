package job

import (
	"slices"
	"time"
)

// State is what a job is doing. The table of arrows is in pkg/lifecycle.
type State string

// The job states.
const (
	Enabled   State = "ENABLED"
	Paused    State = "PAUSED"
	Suspended State = "SUSPENDED" // failed too often in a row
	Broken    State = "BROKEN"    // its schedule can no longer be evaluated
	Completed State = "COMPLETED" // no further time will come
	Deleted   State = "DELETED"   // kept as a tombstone, so that its epoch is never reused
)

// Head is the small mutable record of a job: what the scan needs to
// materialise it, and what fences it.
type Head struct {
	Ref
	State    State
	Revision int   // number of the current revision, from 1
	Epoch    int64 // +1 on every control verb, never reused
	RunsFrom int64 // epoch of the last verb that was not an edit

	Schedule  Schedule
	Anchor    time.Time // phase of `every` when the schedule has no start
	Misfire   Misfire
	Pool      string
	Type      string // carried to executions; empty = none
	Target    string // kind of the target; the same
	Suspend   int    // failures in a row after which it is suspended; zero = never
	CreatedAt time.Time
	UpdatedAt time.Time
	ChangedBy string // who set the state
	Reason    Reason // why the job is in this state, when that is not a person's wish

	NextFireAt    time.Time // the cursor: first scheduled time not yet materialised; zero = none
	LastScheduled time.Time // last scheduled time that was advanced over
	SettledUpto   time.Time // executions at or before this have ended or been withdrawn
	Advances      int64     // how often the cursor moved: every 16th looks back
	DueShard      string    // key in the due index; empty = not in it

	Plan *LatePlan // a misfire decision being carried out
	Gap  *Gap      // scheduled times that a verb passed over and that still lack their record

	StoppedAt time.Time // up to when its times were dealt with when it stopped being ENABLED; zero = it has not stopped

	SwitchAt   time.Time // a definition that waits takes over after this time; zero = none waits
	SwitchedAt time.Time // up to when times are those of the revision before this one, although a switch-over has been made; zero = none

	PurgedAt time.Time // when a DELETED job's definition was taken away; only what keeps its numbers is left. Zero = it was not

	Waits []string // calendars that only the definition that waits names

	LostRevision int // highest revision that a restore lost and executions still name; zero = none

	Schema int // of the build that wrote it last; higher than Schema: this build reads only
}

// StateAt is the state as people read it at a moment: a job whose last time has
// been materialised ahead is stored as COMPLETED, and is ENABLED until that time
// has come.
func (h *Head) StateAt(now time.Time) State {
	if h.State == Completed && h.LastScheduled.After(now) {
		return Enabled
	}
	return h.State
}

// Uses names every calendar that the job, or the definition that waits, keeps to.
// A deleted job keeps to none.
func (h *Head) Uses() []string {
	if h == nil || h.State == Deleted {
		return nil
	}
	names := h.Schedule.Calendars()
	if !h.SwitchAt.IsZero() {
		names = append(names, h.Waits...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Follow gives the head what a scan needs of a definition.
func (h *Head) Follow(d Definition, anchor time.Time) {
	h.Schedule, h.Anchor, h.Misfire, h.Pool = d.Schedule, anchor, *d.Misfire, d.Pool
	h.Type, h.Target, h.Suspend = d.Type, d.Target.Kind(), d.SuspendAfter
}

// AfterSwitch is the cursor behind the last time of a revision that another one
// follows: the second after the switch-over; zero when none waits.
func (h *Head) AfterSwitch() time.Time {
	if h.SwitchAt.IsZero() {
		return time.Time{}
	}
	return h.SwitchAt.Add(time.Second)
}

// RevisionAt is the number of the revision that holds at a moment: a switch-over
// is made some minutes ahead.
func (h *Head) RevisionAt(now time.Time) int {
	if now.Before(h.SwitchedAt) {
		return h.Revision - 1
	}
	return h.Revision
}

// LatePlan is a misfire decision. It is written into the head before it is
// carried out, because the decision depends on the clock of whoever made it.
//
// What runs is always the latest of the late times, so it is told by its first.
type LatePlan struct {
	From     time.Time  `json:"from"`               // the cursor when it was made
	To       time.Time  `json:"to"`                 // last late scheduled time
	Missed   []LatePart `json:"missed,omitempty"`   // what does not run, oldest first; up to two
	FireFrom time.Time  `json:"fire_from,omitzero"` // the late times from here to To run; zero = none does
	Covers   time.Time  `json:"covers,omitzero"`    // under COALESCE: where the data interval of the one that runs begins
}

// LatePart is a run of late times that share a disposition.
type LatePart struct {
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`
	Count  int       `json:"count"`
	Reason Reason    `json:"reason"`
}

// Runs reports whether the plan runs the late time at.
func (p *LatePlan) Runs(at time.Time) bool {
	return !p.FireFrom.IsZero() && !at.Before(p.FireFrom) && !at.After(p.To)
}

// Why is the reason with which the late time at ends; empty when it runs.
func (p *LatePlan) Why(at time.Time) Reason {
	for _, part := range p.Missed {
		if !at.Before(part.From) && !at.After(part.To) {
			return part.Reason
		}
	}
	return ""
}

// Gap is a range of scheduled times that a verb passed over.
type Gap struct {
	From        time.Time `json:"from"`         // the cursor that the verb found
	EffectiveAt time.Time `json:"effective_at"` // the verb's clock; times up to it belong to the gap
	Revision    int       `json:"revision"`     // whose times they are
	Reason      Reason    `json:"reason"`
	Then        time.Time `json:"then,omitzero"` // the cursor after the gap; zero = none
}

// Revision is one immutable version of a job's definition.
type Revision struct {
	Ref
	Number     int
	Epoch      int64 // epoch of the verb that made it
	Definition Definition
	Anchor     time.Time
	CreatedAt  time.Time
	CreatedBy  string
	TZDB       string // version of the time zone database that computed it
	// Calendars are those that the schedule names, as they were when it was made.
	Calendars []PinnedCalendar
	// CarryUntil is the last scheduled time up to which executions of the
	// *previous* revision that have not begun may still begin.
	CarryUntil time.Time
}

// Carries is CarryUntil of the revision that followed another; zero when none
// did (nil), so nothing older may begin.
func (r *Revision) Carries() time.Time {
	if r == nil {
		return time.Time{}
	}
	return r.CarryUntil
}
