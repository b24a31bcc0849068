package record

import (
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/observe"
)

// lateAfter is the service level objective: an execution starts within it.
const lateAfter = 30 * time.Second

// Measure adds to figures what the changes tell, each change once. It reads
// nothing but the two images, so the figures cost no read and no attribute.
func Measure(changes []Change, figures *observe.Batch) {
	if figures == nil {
		return
	}
	for _, c := range changes {
		switch {
		case c.New == nil:
		case c.New.Kind == job.KindRange:
			measureRange(c, figures)
		default:
			m := measure{Change: c, Batch: figures, of: labels(c.New)}
			m.stored()
			m.started()
			m.ended()
		}
	}
}

// measureRange counts the scheduled times that a ranged record tells of; one
// that is written again counts what has come to it.
func measureRange(c Change, figures *observe.Batch) {
	count := rangeCount(c.New)
	if c.Old != nil {
		count -= rangeCount(c.Old)
	}
	if c.New.Status == job.Missed && count > 0 {
		figures.Count(observe.Missed, observe.Labels{Reason: c.New.Reason}, count)
	}
}

func rangeCount(e *job.Execution) int {
	if e.Range == nil {
		return 0
	}
	return e.Range.Count
}

// measure is one change of one execution on its way to figures.
type measure struct {
	Change
	*observe.Batch
	of observe.Labels
}

// labels are what the execution's figures are split by.
func labels(e *job.Execution) observe.Labels {
	return observe.Labels{Pool: e.Pool, Type: e.Type, Target: e.Target, Reason: e.Reason}
}

// stored tells how late an execution came into being, again when a newer life
// of its job made it anew.
func (m measure) stored() {
	made := m.New.Status == job.Scheduled && m.punctual() && (m.Old == nil || m.Old.Epoch < m.New.Epoch)
	if made {
		m.Observe(observe.ScheduleLag, m.of, m.New.CreatedAt.Sub(m.New.DueAt()))
	}
}

// punctual reports whether the execution has a time to be late for. What a person
// asked for has none: a backfill of last year is not a year late.
func (m measure) punctual() bool { return m.New.Kind == job.KindScheduled && m.New.Actor == "" }

// started tells of a claim: how long the attempt waited, and of the first
// attempt how late it is.
func (m measure) started() {
	if m.Old == nil || m.New.Attempt <= m.Old.Attempt {
		return
	}
	begun, known := attemptBegan(m.New)
	if m.Old.Status == job.Running {
		m.Count(observe.Takeovers, m.of, 1)
	} else if known {
		m.Observe(observe.QueueWait, m.of, begun.Sub(later(m.Old.CreatedAt, m.Old.AvailableAt)))
	}
	if m.Old.Attempt > 0 || !m.punctual() {
		return
	}
	lag, late := m.New.StartedAt.Sub(m.New.DueAt()), 0
	if lag > lateAfter {
		late = 1
	}
	m.Observe(observe.StartLag, m.of, lag)
	m.Count(observe.LateStarts, m.of, late)
}

// ended tells of an attempt that is over, and of what became of the execution.
func (m measure) ended() {
	lost := m.New.Lost
	if m.Old != nil {
		lost -= m.Old.Lost
	}
	if lost > 0 {
		m.Count(observe.LeasesLost, m.of, lost)
	}
	if m.Old != nil && m.Old.Status == m.New.Status {
		return
	}
	if m.Old != nil && m.Old.Status == job.Running && lost == 0 {
		m.ran()
	}
	switch m.New.Status {
	case job.Succeeded:
		m.Count(observe.Succeeded, m.of, 1)
	case job.Failed:
		m.Count(observe.Failed, m.of, 1)
	case job.Dead:
		m.Count(observe.Dead, m.of, 1)
	case job.Canceled:
		m.Count(observe.Canceled, m.of, 1)
	case job.Missed:
		m.Count(observe.Missed, m.of, 1)
	case job.RetryWait:
		m.Count(observe.Retries, m.of, 1)
	case job.Scheduled, job.Running, job.Skipped, job.Withdrawn, job.NeedsReview:
	}
}

// ran tells how long the attempt took that has ended: both ends are in the
// timeline, by the clock of its worker.
func (m measure) ran() {
	begun, known := attemptBegan(m.Old)
	if !known || len(m.New.Timeline) == 0 {
		return
	}
	m.Observe(observe.RunDuration, m.of, m.New.Timeline[len(m.New.Timeline)-1].At.Sub(begun))
}

// attemptBegan is when the execution's newest attempt was claimed. The newest
// entries never fall out of a timeline.
func attemptBegan(e *job.Execution) (time.Time, bool) {
	for n := len(e.Timeline) - 1; n >= 0; n-- {
		if entry := e.Timeline[n]; entry.To == job.Running && entry.Attempt == e.Attempt {
			return entry.At, true
		}
	}
	return time.Time{}, false
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
