package sim_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

// One machine's clock is hours off. A scanner takes the age of its message by
// the clock of the queue: ahead, it finds the message too old; behind, it finds
// nothing due. Either way it leaves the shards to a later minute, which a
// misfire policy may notice, and moves no cursor into the future. The tick's
// clock only names the minute that it wins. One that is told by AWS that it is off
// decides nothing: two of them together would leave no minute to anybody else.
func TestAClockThatIsFarOffTakesNoTimeAway(t *testing.T) {
	t.Parallel()
	const hours = 2 * time.Hour
	for sentence, row := range map[string]struct {
		off    map[string]time.Duration
		missed bool // scans are left out, so that a time may be found late
		told   bool // the process knows by how much its clock is off
		long   bool // left out of the short form, where a row beside it shows the same
	}{
		"a scanner ahead by two hours":             {map[string]time.Duration{"scan-1": hours}, true, false, false},
		"a scanner behind by two hours":            {map[string]time.Duration{"scan-1": -hours}, true, false, true},
		"the tick ahead by two hours":              {map[string]time.Duration{"tick": hours}, false, false, false},
		"the tick behind by two hours":             {map[string]time.Duration{"tick": -hours}, false, false, true},
		"two scanners three minutes apart":         {map[string]time.Duration{"scan": 89 * time.Second, "scan-1": -89 * time.Second}, false, false, true},
		"ticks and scanners three minutes apart":   {map[string]time.Duration{"scan": 89 * time.Second, "scan-1": -89 * time.Second, "tick": -89 * time.Second, "tick-1": 89 * time.Second}, false, false, false},
		"a scanner ahead and the tick ahead alike": {map[string]time.Duration{"scan-1": hours, "tick": hours}, true, true, false},
	} {
		if row.long && testing.Short() {
			continue
		}
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				w := world(t, sim.Options{Second: 20, Mutate: func(b *assemble.Belfry, _ *execute.Service) {
					off := row.off[b.Settings.Owner]
					if b.Trigger.Clock = (skewed{by: off}); row.told {
						b.Trigger.Off = off.Abs
					}
				}})
				w.StartCrowd(t.Context(), 2, 2)
				refs := []job.Ref{put(t, w, job.Definition{Job: "minutely", Schedule: job.Schedule{Cron: "* * * * *"}}),
					put(t, w, job.Definition{Job: "at-two", Schedule: job.Schedule{Cron: "0 2 * * *"}})}
				for n := 0; n < 59; n += 6 {
					refs = append(refs, put(t, w, job.Definition{Job: fmt.Sprint("n", n), Schedule: job.Schedule{Cron: fmt.Sprintf("%d 0-1 * * *", n)}}))
				}
				time.Sleep(2*time.Hour + 10*time.Minute)
				upto := time.Now().Add(-5 * time.Minute)
				w.Stop()
				for _, ref := range refs {
					if err := w.Check(t.Context(), ref, begun, upto); err != nil {
						t.Errorf("%s: %.800v", ref, err)
					}
					stored, err := w.Stored(t.Context(), ref)
					if err != nil {
						t.Fatal(err)
					}
					for _, e := range stored {
						if e.Status == job.Missed && !row.missed || e.ScheduledAt.After(time.Now().Add(10*time.Minute)) {
							t.Errorf("%s is %s", e.ID(), e.Status)
						}
					}
				}
			})
		})
	}
}
