package execute_test

import (
	"context"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

func budget(most time.Duration) func(*job.Definition) {
	return func(d *job.Definition) {
		d.Timeout, d.Retry.MaxRun, d.Retry.MaxAttempts = job.Duration(time.Hour), job.Duration(most), 50
	}
}

func TestAllAttemptsTogetherRunAsLongAsTheyMay(t *testing.T) {
	inBubble(t, budget(100*time.Second), func(b *bench) {
		var runs []time.Duration
		b.runs(func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
			begun := time.Now()
			defer func() { runs = append(runs, time.Since(begun)) }()
			if left := time.Until(a.Deadline); left != 100*time.Second-sum(runs) {
				t.Errorf("it may run for %v after %v", left, runs)
			}
			select {
			case <-ctx.Done():
			case <-time.After(30 * time.Second):
			}
			return http503
		})
		for d := b.delivery(b.message()); ; d = b.delivery(b.again()) {
			if got := b.Process(b.Context(), d); got.Delete {
				break
			}
			time.Sleep(10 * time.Minute)
		}
		if len(runs) != 4 || runs[3] != 10*time.Second {
			t.Errorf("it ran for %v, want three times 30 s and the rest of 100 s", runs)
		}
		b.wantStatus(job.Dead, lifecycle.MaxRun)
	})
}

func sum(runs []time.Duration) (all time.Duration) {
	for _, r := range runs {
		all += r
	}
	return all
}

func TestALostAttemptCountsUntilItsLeaseEnded(t *testing.T) {
	for sentence, row := range map[string]struct {
		most time.Duration
		left time.Duration // zero = it is given up
	}{
		"and what is left is the next one's": {40 * time.Second, 25 * time.Second},
		"and may use the budget up":          {lease, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			inBubble(t, budget(row.most), func(b *bench) {
				b.takenBy("w2")
				time.Sleep(lease + margin)
				var left time.Duration
				b.runs(func(_ context.Context, a *execute.Attempt) *lifecycle.Failure {
					left = time.Until(a.Deadline)
					return nil
				})
				m := b.again()
				m.Isolated = true
				b.Process(b.Context(), b.delivery(m))
				if left != row.left {
					t.Errorf("the next one may run for %v, want %v", left, row.left)
				}
				if row.left == 0 {
					b.wantStatus(job.Dead, lifecycle.MaxRun)
				}
			})
		})
	}
}
