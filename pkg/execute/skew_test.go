package execute_test

import (
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

func TestAWorkerWhoseClockIsOffTakesNothing(t *testing.T) {
	for sentence, row := range map[string]struct {
		off  time.Duration
		runs int
	}{
		"right":                   {0, 1},
		"off by what is forgiven": {lifecycle.MaxOff, 1},
		"off by more":             {lifecycle.MaxOff + 1, 0},
		"off by an hour":          {time.Hour, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			inBubble(t, nil, func(b *bench) {
				b.Off = func() time.Duration { return row.off }
				begun := 0
				b.runs(counts(&begun))
				got := b.Process(b.Context(), b.delivery(b.message()))
				if begun != row.runs || got.Delete != (row.runs == 1) || row.runs == 0 && (got.Hide != 15*time.Second || job.CodeOf(got.Err) != job.CodeUnavailable) {
					t.Errorf("%d runs, disposal %+v; want %d runs", begun, got, row.runs)
				}
				if row.runs == 1 {
					return
				}
				b.wantStatus(job.Scheduled, lifecycle.Materialised)
				if got := b.Redrive(b.Context(), b.again()); got.Delete || job.CodeOf(got.Err) != job.CodeUnavailable {
					t.Errorf("of a dead letter it makes %+v", got)
				}
			})
		})
	}
}
