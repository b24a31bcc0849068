package worker_test

import (
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

func TestTheDataIntervalBeginsAtTheTimeBefore(t *testing.T) {
	created := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC) // the night of the change in Berlin
	rows := map[string]struct {
		schedule job.Schedule
		key      job.Key
		start    time.Time
	}{
		"a nightly time shifted out of the gap goes back to the night before": {
			job.Schedule{Cron: "30 2 * * *", Zone: "Europe/Berlin"}, job.ScheduledKey(at), time.Date(2026, 3, 28, 1, 30, 0, 0, time.UTC)},
		"an interval goes back by itself": {
			job.Schedule{Every: job.Duration(time.Hour)}, job.ScheduledKey(at), at.Add(-time.Hour)},
		"a one-off time has no start": {
			job.Schedule{At: at}, job.ScheduledKey(at), time.Time{}},
		"a manual run has no start": {
			job.Schedule{Every: job.Duration(time.Hour)}, job.SerialKey(job.KindManual, ulid.MustNew(ulid.Timestamp(at), nil)), time.Time{}},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			a := worker.NewAttempt(&execute.Attempt{Execution: &job.Execution{Key: row.key},
				Definition: job.Definition{Schedule: row.schedule}, Anchor: created}, nil)
			if start, end := a.Interval(); !start.Equal(row.start) || !end.Equal(at) {
				t.Fatalf("from %s to %s, want from %s to %s", start, end, row.start, at)
			}
		})
	}
}
