package sim_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

// freezer stops a process between two of its calls: what it was about to send
// goes out when it thaws, whatever has become of its contexts meanwhile.
type freezer struct {
	process string
	every   int // it freezes before each so-many-th call that counts
	lasts   time.Duration

	mu     sync.Mutex
	calls  int
	thaw   time.Time
	frozen int
}

// around is the transport of one incarnation of any process.
func (f *freezer) around(next aws.HTTPClient) aws.HTTPClient { return freezing{f, next} }

type freezing struct {
	*freezer
	next aws.HTTPClient
}

// Do implements aws.HTTPClient.
func (f freezing) Do(request *http.Request) (*http.Response, error) {
	if !strings.Contains(request.Header.Get("User-Agent"), "app/"+f.process) || strings.HasSuffix(request.Header.Get("X-Amz-Target"), "ReceiveMessage") {
		return f.next.Do(request)
	}
	f.mu.Lock()
	f.calls++
	if f.calls%f.every == 0 && !time.Now().Before(f.thaw) {
		f.thaw = time.Now().Add(f.lasts)
		f.frozen++
	}
	wait := time.Until(f.thaw)
	f.mu.Unlock()
	time.Sleep(wait)
	return f.next.Do(request.WithContext(context.WithoutCancel(request.Context())))
}

// A process that stands still longer than its lease, and goes on with the very
// next call as if nothing had happened, at each of its calls.
func TestAProcessThatThawsAtTheWorstMomentChangesNothingThatIsNoLongerItsOwn(t *testing.T) {
	for _, process := range []string{"worker-fast-ioa", "scan"} {
		for _, every := range []int{2, 3, 5, 7, 11, 13} {
			if testing.Short() && every != 2 || every%2+every%3 != 2 && !prove() {
				continue
			}
			t.Run(fmt.Sprint(process, " before every call ", every), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := &freezer{process: process, every: every, lasts: 40 * time.Second}
					begun := time.Now()
					w := world(t, sim.Options{Work: slowAndFlaky, Client: f.around})
					w.StartCrowd(t.Context(), 2, 1)
					retry := job.Retry{MaxAttempts: 50, MaxLost: 20}
					refs := []job.Ref{put(t, w, job.Definition{Job: "often", Schedule: job.Schedule{Every: job.Duration(20 * time.Second)}, Retry: retry}),
						put(t, w, job.Definition{Job: "minutely", Schedule: job.Schedule{Cron: "* * * * *"}, Retry: retry})}
					time.Sleep(40 * time.Minute)
					upto := time.Now()
					pauseAll(t, w, refs)
					time.Sleep(30 * time.Minute)
					w.Stop()
					time.Sleep(2 * time.Minute) // what is frozen thaws
					for _, ref := range refs {
						if err := w.Check(t.Context(), ref, begun, upto); err != nil {
							t.Errorf("%s: %.1500v", ref, err)
						}
						if process != "scan" { // the very put that stood still can make a time that was told as missed
							judgeCounts(t, w, ref)
						}
					}
					judgeRest(t, w)
					if f.frozen == 0 {
						t.Error("nothing froze")
					}
				})
			})
		}
	}
}

// slowAndFlaky is flaky, and takes some seconds, so that leases matter.
func slowAndFlaky(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
	time.Sleep(time.Duration(a.Execution.ScheduledAt.Unix()%7) * time.Second)
	return flaky(ctx, a)
}

// skewed is a clock that is off.
type skewed struct {
	clock.System
	by time.Duration
}

func (s skewed) Now() time.Time { return s.System.Now().Add(s.by) }

func (s skewed) Wait(ctx context.Context, until time.Time) error {
	return s.System.Wait(ctx, until.Add(-s.by))
}

// Clocks that are off within epsilon change nothing. Clocks that are further off
// have executions begin early or late by as much, and leases end early; still
// every time is told once and nobody writes what is not theirs.
func TestClocksThatAreOff(t *testing.T) {
	for _, by := range []time.Duration{200 * time.Millisecond, time.Second, 4 * time.Second} {
		t.Run(fmt.Sprint("by ", by), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				off := map[string]time.Duration{"worker-fast-ioa": by, "worker-fast-iob": -by, "isolation-fast-io": by, "scan": -by, "scan-1": by, "tick": by, "deadletter-fast-io": -by}
				begun := time.Now()
				w := world(t, sim.Options{Work: slowAndFlaky, Mutate: func(b *assemble.Belfry, e *execute.Service) {
					c := skewed{by: off[b.Settings.Owner]}
					b.Trigger.Clock, b.Queues.Clock, e.Clock, b.Control.Clock = c, c, c, c
				}})
				w.StartCrowd(t.Context(), 2, 1)
				ref := put(t, w, job.Definition{Job: "often", Schedule: job.Schedule{Every: job.Duration(10 * time.Second)}, Retry: job.Retry{MaxAttempts: 50, MaxLost: 20}})
				time.Sleep(40 * time.Minute)
				upto := time.Now()
				pauseAll(t, w, []job.Ref{ref})
				time.Sleep(30 * time.Minute)
				w.Stop()
				if err := w.Check(t.Context(), ref, begun, upto.Add(-10*time.Second)); err != nil && !onlyEarly(err) {
					t.Errorf("%.1500v", err)
				}
				for _, run := range w.Runs() {
					if early := run.Key.ScheduledAt.Sub(run.At); early > by {
						t.Errorf("%s began %s early with clocks that are off by %s", run.ID, early, by)
					}
				}
				judgeRest(t, w)
			})
		})
	}
}

func onlyEarly(err error) bool {
	for line := range strings.Lines(err.Error()) {
		if strings.TrimSpace(line) != "" && !strings.Contains(line, "before its time") {
			return false
		}
	}
	return true
}
