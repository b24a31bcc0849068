package sim_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/objects"
	"github.com/belfry-scheduler/belfry/pkg/sim"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

// soakPools are where the soak runs: short work, and long work under longer leases.
var soakPools = dispatch.Pools{{Name: "fast-io", Lease: 15 * time.Second, Ceiling: time.Hour, Slots: 8, Batch: 10},
	{Name: "slow", Lease: 30 * time.Second, Ceiling: 2 * time.Hour, Slots: 12, Batch: 10}}

// soak is a world under load for two hours, and all that its handlers, its people and
// its faults noted about it.
type soak struct {
	*testing.T
	seed  uint64
	w     *sim.World
	begun time.Time
	until time.Time // no faults, and nothing new by people, from then on
	defs  map[string]job.Definition
	refs  []job.Ref

	mu      sync.Mutex
	runs    map[string][]*soakRun // by execution, in the order in which they began
	marks   map[string]*mark
	effects map[string]bool        // of what must take effect once
	asked   map[string]bool        // executions whose cancel was acknowledged
	doubted map[string]*soakRun    // executions that may wait for a person
	judged  map[string]bool        // executions that a person decided about
	thaws   map[string]time.Time   // when a process goes on
	thawed  map[string]time.Time   // when it did the time before
	trouble map[string][]time.Time // when a process crashed, stood still or had a fault
	armed   map[string]bool        // processes that stand still before their next call
	lives   map[string]int         // of each process
	wrong   []string               // what broke a rule while it went on
	tally   map[string]int         // how often what was done
	doomed  map[string]int         // processes whose next call is their last
}

// soakTotals are what must have happened at least once over all seeds of a run.
var soakTotals = []string{"crash", "freeze", "freeze before a call", "throttle", "lose response", "copy", "late", "save", "load", "large save", "stale save refused", "lease lost heard", "lost worker", "cancel", "replay",
	"manual run", "retry now", "review", "confirmed", "retried", "stuck", "panic", "reduce", "child failed", "kill"}

// TestTwoHoursOfEverything has 200 jobs of all kinds run for two hours, while processes
// stand still and go on, crash, are throttled, lose answers, and get messages late and
// twice, and while people cancel, run, replay and decide. Every rule of the design that
// an execution can break is checked while it goes on and when all has come to rest.
func TestTwoHoursOfEverything(t *testing.T) {
	seeds := 10
	switch {
	case testing.Short():
		seeds = 1
	case prove():
		seeds = 100
	}
	totals := map[string]int{}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSoak(t, uint64(seed))
				s.play()
				s.judge()
				for what, n := range s.tally {
					totals[what] += n
				}
			})
		})
	}
	for _, what := range soakTotals {
		if totals[what] == 0 && !t.Failed() {
			t.Errorf("there was no %s", what)
		}
	}
}

func newSoak(t *testing.T, seed uint64) *soak {
	s := &soak{T: t, seed: seed, begun: time.Now(), until: time.Now().Add(2 * time.Hour), defs: map[string]job.Definition{}, runs: map[string][]*soakRun{}, marks: map[string]*mark{},
		effects: map[string]bool{}, asked: map[string]bool{}, doubted: map[string]*soakRun{}, judged: map[string]bool{}, thaws: map[string]time.Time{}, thawed: map[string]time.Time{}, trouble: map[string][]time.Time{},
		lives: map[string]int{}, tally: map[string]int{}, doomed: map[string]int{}, armed: map[string]bool{}}
	s.w = world(t, sim.Options{Shards: 2, Pools: soakPools, Decide: s.decide, Work: s.work, Client: s.around, Disturb: s.disturb, Second: int(seed % 60),
		Mutate: func(b *assemble.Belfry, e *execute.Service) {
			process := b.Settings.Owner
			c := freezingClock{soak: s, process: process}
			b.Trigger.Clock, e.Clock = c, c
			config := s.w.Backend.Config()
			config.HTTPClient, config.AppID = s.around(config.HTTPClient), process
			e.Objects = objects.New(s3.NewFromConfig(config), "belfry")
			e.Spread = func() float64 { return s.roll("spread", process, time.Now().UnixNano()) }
		}})
	if _, err := s3.NewFromConfig(s.w.Backend.Config()).CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("belfry")}); err != nil {
		t.Fatal(err)
	}
	return s
}

// roll draws from [0, 1), the same for the same words under one seed.
func (s *soak) roll(words ...any) float64 {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, s.seed, words)
	x := h.Sum64()
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return float64((x^x>>31)>>11) / (1 << 53)
}

// play runs it: two hours of trouble, then everything is paused and comes to rest.
func (s *soak) play() {
	s.w.StartCrowd(s.Context(), 2, 2)
	for _, d := range soakJobs(s) {
		s.defs[d.Job] = d.WithDefaults()
		s.refs = append(s.refs, put(s.T, s.w, d))
	}
	weather, end := context.WithCancel(s.Context())
	var busy sync.WaitGroup
	busy.Go(func() { s.freeze(weather) })
	busy.Go(s.people)
	time.Sleep(time.Until(s.until))
	end()
	busy.Wait()
	time.Sleep(5 * time.Minute) // what stood still goes on, and what waited is caught up
	upto := time.Now()
	pauseAll(s.T, s.w, s.refs)
	s.rest()
	s.w.Stop()
	for _, ref := range s.refs {
		if err := s.w.CheckJob(s.Context(), ref, s.begun, upto); err != nil {
			s.Errorf("%s: %.1000v", ref, err)
		}
	}
}

// rest waits until nothing is left to do; people go on deciding what waits for them.
func (s *soak) rest() {
	for range 24 * 6 {
		time.Sleep(10 * time.Minute)
		s.review()
		open := 0
		for _, e := range s.executions() {
			switch e.Status {
			case job.Running, job.RetryWait, job.Scheduled, job.NeedsReview:
				open++
			case job.Succeeded, job.Failed, job.Dead, job.Canceled, job.Skipped, job.Missed, job.Withdrawn:
			}
		}
		if open == 0 {
			break
		}
	}
	time.Sleep(15 * time.Minute) // copies of messages, and wake-ups of what has ended
}

// executions are all that the table holds, children too.
func (s *soak) executions() (all []*job.Execution) {
	for _, item := range scanned(s.T, s.w, s.w.Control.Store.Tables().Executions) {
		e, err := store.DecodeImage(item)
		if err != nil {
			s.Fatal(err)
		}
		if e != nil && e.Range == nil {
			all = append(all, e)
		}
	}
	return all
}

// people do something every now and then to what has lately run.
func (s *soak) people() {
	r := rand.New(rand.NewPCG(s.seed, 3))
	for time.Now().Before(s.until) {
		time.Sleep(time.Duration(5+r.IntN(35)) * time.Second)
		s.review()
		what := r.IntN(5)
		run := s.recent(r, what == 1 || what == 4)
		if run == nil {
			continue
		}
		name := "manual run"
		var err error
		switch what {
		case 0:
			_, err = s.w.Control.Control.RunNow(s.Context(), control.RunRequest{Ref: s.refs[r.IntN(len(s.refs))], Actor: "ada"})
		case 1:
			name = "retry now"
			_, err = s.w.Control.Control.RetryNow(s.Context(), run.ref, run.key, "ada")
		case 2, 3:
			name = "cancel"
			if _, err = s.w.Control.Control.Cancel(s.Context(), run.ref, run.key, "ada"); err == nil {
				s.note(func() { s.asked[run.name()] = true })
			}
		default:
			name = "replay"
			_, err = s.w.Control.Control.Replay(s.Context(), control.ReplayRequest{Ref: run.ref, Key: run.key, Actor: "ada"})
		}
		var refused *job.Error
		switch {
		case err == nil:
			s.count(name)
		case !errors.As(err, &refused) || strings.Contains(string(refused.Code), "INTERNAL"):
			s.Errorf("%s of %s: %v", name, run.name(), err)
		}
	}
}

// recent draws an execution that runs or has lately run; of those that did not work
// when it must have failed.
func (s *soak) recent(r *rand.Rand, failed bool) *soakRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	var young []*soakRun
	for _, name := range slices.Sorted(maps.Keys(s.runs)) {
		run := s.runs[name][len(s.runs[name])-1]
		age := time.Since(run.begun)
		if run.said && run.answer != nil && age < 20*time.Minute || !failed && (age < 3*time.Minute || !run.said && age < 45*time.Minute) {
			young = append(young, run)
		}
	}
	if len(young) == 0 {
		return nil
	}
	return young[r.IntN(len(young))]
}

// review decides about all that waits for a person.
func (s *soak) review() {
	waiting := map[string]*soakRun{}
	s.note(func() {
		for name, run := range s.doubted {
			waiting[name] = run
		}
	})
	for name, run := range waiting {
		e := stored(s.T, s.w, run.ref, run.key)
		if e.Status != job.NeedsReview {
			continue
		}
		verdict := []job.Verdict{job.ItWorked, job.ItFailed, job.TryAgain}[int(3*s.roll("verdict", name, e.Attempt))]
		if _, err := s.w.Control.Control.Review(s.Context(), control.ReviewRequest{Ref: run.ref, Key: run.key, As: verdict, Note: "looked", Actor: "ada"}); err != nil {
			s.Errorf("review of %s: %v", name, err)
		}
		s.note(func() { s.judged[name] = true })
		s.count("review")
	}
}

func (s *soak) note(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *soak) count(what string) { s.note(func() { s.tally[what]++ }) }

// blame notes a broken rule.
func (s *soak) blame(format string, args ...any) {
	s.note(func() { s.wrong = append(s.wrong, fmt.Sprintf(format, args...)) })
}
