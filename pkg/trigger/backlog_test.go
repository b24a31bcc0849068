package trigger_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestAShardTellsWhatIsOverdueInIt(t *testing.T) {
	inTower(t, func(w *tower) {
		behind := func() []job.Backlog {
			layouts, behind, err := w.Backlogs(w.Context())
			w.must(err)
			if len(layouts) != 1 || layouts[0].Shards != 1 {
				w.Errorf("the layouts are %v", layouts)
			}
			return behind
		}
		if got := behind(); len(got) != 0 {
			w.Errorf("without a job %v is overdue", got)
		}
		now := time.Now()
		w.store("to-come", minutely, now.Add(time.Minute), job.Misfire{})
		if got := behind(); len(got) != 0 {
			w.Errorf("a time that comes is overdue: %v", got)
		}
		w.store("late", minutely, now.Add(-5*time.Minute), job.Misfire{})
		oldest := w.store("latest", minutely, now.Add(-20*time.Minute), job.Misfire{})
		w.spoil(w.store("paused", minutely, now.Add(-time.Hour), job.Misfire{}), "state", string(job.Paused))
		w.calls("due")
		want := job.Backlog{Shard: job.Shard{Generation: 1}, Jobs: 2, Oldest: oldest, Since: now.Add(-20 * time.Minute).UTC()}
		if got := behind(); len(got) != 1 || got[0] != want {
			w.Errorf("overdue is %+v, want %+v", got, want)
		}
		if n := w.calls("due"); n != 1 {
			w.Errorf("one shard took %d queries", n)
		}
		for n := range 120 {
			w.store(fmt.Sprint("crowd-", n), minutely, now.Add(-time.Minute), job.Misfire{})
		}
		if got := behind(); len(got) != 1 || got[0].Jobs != 99 || !got[0].More {
			w.Errorf("of 122 overdue jobs it counts %+v, want 99 of the first hundred entries and more", got)
		}
		w.scan()
		if got := behind(); len(got) != 0 {
			w.Errorf("after a scan %+v is overdue", got)
		}
	})
}
