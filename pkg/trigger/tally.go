package trigger

import (
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/observe"
)

// tally is what a scan tells about what it found.
type tally struct {
	*observe.Batch
	now time.Time
}

func (s *Service) newTally(sentAt time.Time) tally {
	t := tally{Batch: s.Metrics.Batch(), now: s.Clock.Now()}
	if !sentAt.IsZero() {
		t.Observe(observe.ScanDelay, observe.Labels{}, t.now.Sub(sentAt))
	}
	return t
}

// begun tells that nothing was found yet, so that silence means that no scan ran.
func (t tally) begun() {
	t.Count(observe.ScansCompleted, observe.Labels{}, 0)
	t.Count(observe.DueJobs, observe.Labels{}, 0)
	t.Count(observe.LateJobs, observe.Labels{}, 0)
	t.Observe(observe.Overdue, observe.Labels{}, 0)
}

// due counts jobs that the due index gave. An entry of the index may be out of
// date, and a gap stands at a verb's own time: neither is late.
func (t tally) due(heads []*job.Head) {
	if t.Batch == nil {
		return
	}
	found, late, longest := 0, 0, time.Duration(0)
	for _, h := range heads {
		if h.State != job.Enabled || h.NextFireAt.IsZero() {
			continue
		}
		found++
		if behind := t.now.Sub(h.NextFireAt); behind > 0 && h.Gap == nil {
			late, longest = late+1, max(longest, behind)
		}
	}
	t.Count(observe.DueJobs, observe.Labels{}, found)
	t.Count(observe.LateJobs, observe.Labels{}, late)
	if late > 0 {
		t.Observe(observe.Overdue, observe.Labels{}, longest)
	}
}
