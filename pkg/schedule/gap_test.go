package schedule

import (
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestPassedOverCountsWhatAVerbPassedOver(t *testing.T) {
	from := instantOf(t, "2026-07-12T10:00:00Z")
	revision := &job.Revision{Anchor: from, Definition: job.Definition{Schedule: job.Schedule{Cron: "*/15 * * * *"}}}
	for name, c := range map[string]struct {
		effective time.Duration
		rev       *job.Revision
		last      time.Duration
		count     int
	}{
		"the cursor and all up to the verb":   {time.Hour, revision, time.Hour, 5},
		"a verb between two times":            {time.Hour - time.Second, revision, 45 * time.Minute, 4},
		"a verb as the cursor came due":       {0, revision, 0, 1},
		"a verb before the cursor came due":   {-time.Hour, revision, 0, 1},
		"a revision that is gone":             {time.Hour, nil, 0, 1},
		"a revision that cannot be evaluated": {time.Hour, &job.Revision{Definition: job.Definition{Schedule: job.Schedule{Cron: "bad"}}}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			got := PassedOver(&job.Gap{From: from, EffectiveAt: from.Add(c.effective)}, c.rev)
			if !got.From.Equal(from) || !got.To.Equal(from.Add(c.last)) || got.Count != c.count {
				t.Errorf("got %+v", got)
			}
		})
	}
}
