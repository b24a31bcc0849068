package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

const payments = "https://payments.example.com:443"

// fuse is the breaker of one resource on the real store.
type fuse struct {
	*testing.T
	*store.Store

	mu    sync.Mutex
	units map[string]float64 // by operation
	calls map[string]int
}

func newFuse(t *testing.T) *fuse {
	t.Helper()
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	client := dynamodb.NewFromConfig(backend.Config())
	if err := store.CreateTables(t.Context(), client, ""); err != nil {
		t.Fatal(err)
	}
	f := &fuse{T: t, units: map[string]float64{}, calls: map[string]int{}}
	f.Store = store.New(client, store.Options{Meter: func(operation string, consumed []types.ConsumedCapacity) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.calls[operation]++
		for _, c := range consumed {
			f.units[operation] += *c.CapacityUnits
		}
	}})
	return f
}

// now is what is stored.
func (f *fuse) now() *job.Breaker {
	f.Helper()
	b, err := f.Breaker(f.Context(), "acme", payments)
	if err != nil {
		f.Fatal(err)
	}
	return b
}

// fails notes a failure of a job some seconds after noon.
func (f *fuse) fails(name string, after time.Duration, anew bool) *job.Breaker {
	f.Helper()
	b, err := f.NoteFailure(f.Context(), job.BreakerFailure{Ref: job.Ref{Tenant: "acme", Job: name}, Resource: payments, At: noon.Add(after),
		Code: "HTTP_503", Within: 30 * time.Second, Anew: anew})
	if err != nil {
		f.Fatal(err)
	}
	return b
}

// opened is the breaker, open for a minute for one job.
func (f *fuse) opened() *job.Breaker {
	f.Helper()
	b, err := f.OpenBreaker(f.Context(), f.fails("bad", 0, false), job.BreakerOpening{At: noon, Until: noon.Add(time.Minute), Wait: time.Minute, Code: "HTTP_503"})
	if err != nil {
		f.Fatal(err)
	}
	return b
}

func TestARowOfFailuresIsCountedAcrossWorkers(t *testing.T) {
	s := time.Second
	for says, row := range map[string]struct {
		failures func(f *fuse)
		want     int
		jobs     []string
	}{
		"the first of all":                              {func(f *fuse) { f.fails("a", 0, false) }, 1, []string{"a"}},
		"three, each soon after the one before":         {func(f *fuse) { f.fails("a", 0, false); f.fails("b", 29*s, false); f.fails("a", 58*s, false) }, 3, []string{"a", "b"}},
		"one long after the row begins another":         {func(f *fuse) { f.fails("a", 0, false); f.fails("a", s, false); f.fails("b", 32*s, false) }, 1, []string{"b"}},
		"one whose worker has seen it answer meanwhile": {func(f *fuse) { f.fails("a", 0, false); f.fails("a", s, false); f.fails("b", 2*s, true) }, 1, []string{"b"}},
		"and those after it go on from there":           {func(f *fuse) { f.fails("a", 0, false); f.fails("b", s, true); f.fails("b", 2*s, false) }, 2, []string{"b"}},
		"one told with an older clock":                  {func(f *fuse) { f.fails("a", 10*s, false); f.fails("a", 8*s, false) }, 2, []string{"a"}},
		"after it was closed the row begins anew": {func(f *fuse) {
			if _, err := f.CloseBreaker(f.Context(), f.opened(), noon.Add(s)); err != nil {
				f.Fatal(err)
			}
			f.fails("c", 2*s, false)
		}, 1, []string{"c"}},
		"one told to begin a row where others count one": {func(f *fuse) {
			f.fails("a", 0, false)
			if _, err := f.NoteFailure(f.Context(), job.BreakerFailure{Ref: job.Ref{Tenant: "acme", Job: "b"}, Resource: payments, At: noon.Add(s), Code: "HTTP_503", Within: 30 * s, Begins: true}); err != nil {
				f.Fatal(err)
			}
		}, 2, []string{"a", "b"}},
		"of another job while it is open for one": {func(f *fuse) { f.opened(); f.fails("b", s, false) }, 2, []string{"b", "bad"}},
		"of the same job while it is open":        {func(f *fuse) { f.opened(); f.fails("bad", s, false) }, 1, []string{"bad"}},
	} {
		t.Run(says, func(t *testing.T) {
			f := newFuse(t)
			row.failures(f)
			if b := f.now(); b.Failures != row.want || !slices.Equal(b.Jobs, row.jobs) || b.LastCode != "HTTP_503" {
				t.Errorf("it is %+v, want %d failures of %v", b, row.want, row.jobs)
			}
		})
	}
}

func TestFailuresOfManyWorkersAtOnceAreAllCounted(t *testing.T) {
	f := newFuse(t)
	var all sync.WaitGroup
	for n := range 50 {
		all.Go(func() {
			_, err := f.NoteFailure(context.WithoutCancel(t.Context()), job.BreakerFailure{Ref: job.Ref{Tenant: "acme", Job: fmt.Sprint("job-", n%5)}, Resource: payments,
				At: noon, Code: "X", Within: 30 * time.Second})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if b := f.now(); b.Failures != 50 || len(b.Jobs) != 5 {
		t.Errorf("it is %+v, want 50 failures of 5 jobs", b)
	}
}

// late: each write about a breaker is decided on what was seen before something
// else came first, and must then leave everything as it is.
var late = map[string]struct {
	between func(f *fuse, seen *job.Breaker)
	do      func(f *fuse, seen *job.Breaker) (*job.Breaker, error)
}{
	"an opening after another one": {func(f *fuse, seen *job.Breaker) { f.longer(seen) }, func(f *fuse, seen *job.Breaker) (*job.Breaker, error) {
		return f.OpenBreaker(f.Context(), seen, job.BreakerOpening{At: noon, Until: noon.Add(time.Second), Job: "c"})
	}},
	"a close after it opened anew": {func(f *fuse, seen *job.Breaker) { f.longer(seen) }, func(f *fuse, seen *job.Breaker) (*job.Breaker, error) {
		return f.CloseBreaker(f.Context(), seen, noon)
	}},
	"a close by hand after it opened anew": {func(f *fuse, seen *job.Breaker) { f.longer(seen) }, func(f *fuse, seen *job.Breaker) (*job.Breaker, error) {
		return f.now(), f.CloseBreakerByHand(f.Context(), seen, job.Audit{At: noon, Ref: job.Ref{Tenant: "acme", Job: "breaker:x"}, Verb: "breaker-close", Actor: "ada"})
	}},
	"an answered probe of an earlier turn": {func(f *fuse, seen *job.Breaker) { f.longer(seen) }, func(f *fuse, seen *job.Breaker) (*job.Breaker, error) {
		return f.PassProbe(f.Context(), seen)
	}},
	"a probe of an earlier turn": {func(f *fuse, seen *job.Breaker) { f.longer(seen) }, func(f *fuse, seen *job.Breaker) (*job.Breaker, error) {
		return f.LeaseProbe(f.Context(), seen, 3, noon, noon.Add(time.Minute))
	}},
	"a probe when all are leased": {func(f *fuse, seen *job.Breaker) { f.leased(seen, 3) }, func(f *fuse, seen *job.Breaker) (*job.Breaker, error) {
		return f.LeaseProbe(f.Context(), seen, 3, noon, noon.Add(time.Minute))
	}},
	"an opening of what closed": {func(f *fuse, seen *job.Breaker) {
		if _, err := f.CloseBreaker(f.Context(), seen, noon); err != nil {
			f.Fatal(err)
		}
	}, func(f *fuse, seen *job.Breaker) (*job.Breaker, error) {
		return f.OpenBreaker(f.Context(), seen, job.BreakerOpening{At: noon, Until: noon.Add(time.Second), Job: "c"})
	}},
}

func (f *fuse) longer(seen *job.Breaker) {
	f.Helper()
	if _, err := f.OpenBreaker(f.Context(), seen, job.BreakerOpening{At: noon, Until: noon.Add(time.Hour), Wait: time.Hour, Code: "X"}); err != nil {
		f.Fatal(err)
	}
}

func (f *fuse) leased(seen *job.Breaker, n int) {
	f.Helper()
	for range n {
		if _, err := f.LeaseProbe(f.Context(), seen, n, noon, noon.Add(time.Minute)); err != nil {
			f.Fatal(err)
		}
	}
}

func TestWhoComesSecondChangesNothingOfABreaker(t *testing.T) {
	for says, row := range late {
		t.Run(says, func(t *testing.T) {
			f := newFuse(t)
			seen := f.opened()
			row.between(f, seen)
			before := f.now()
			there, err := row.do(f, seen)
			if !errors.Is(err, job.ErrLost) || fmt.Sprint(*there) != fmt.Sprint(*before) || fmt.Sprint(*f.now()) != fmt.Sprint(*before) {
				t.Errorf("%v with %+v; there is %+v, want job.ErrLost and %+v", err, there, f.now(), before)
			}
		})
	}
}

func TestAProbeOfAWorkerThatDiedIsLeasedAgain(t *testing.T) {
	f := newFuse(t)
	f.leased(f.opened(), 3)
	seen := f.now()
	at := noon.Add(time.Minute)
	took := 0
	for range 5 { // several see at once that the leases have passed
		if _, err := f.LeaseProbe(t.Context(), seen, 3, at, at.Add(time.Minute)); err == nil {
			took++
		} else if !errors.Is(err, job.ErrLost) {
			t.Fatal(err)
		}
	}
	if b := f.now(); took != 1 || b.Probes != 1 || !b.LeasedTo.Equal(at.Add(time.Minute)) {
		t.Errorf("%d took a probe; it is %+v, want one, and two that are free", took, b)
	}
}

func TestAClosedBreakerKeepsItsWaitAndItsTurn(t *testing.T) {
	f := newFuse(t)
	seen := f.opened()
	f.leased(seen, 1)
	if b, err := f.PassProbe(t.Context(), seen); err != nil || b.Passed != 1 {
		t.Fatalf("%+v, %v", b, err)
	}
	audit := job.Audit{At: noon.Add(time.Second), Ref: job.Ref{Tenant: "acme", Job: "breaker:" + payments}, Verb: "breaker-close", Actor: "ada", Note: "mended"}
	if err := f.CloseBreakerByHand(t.Context(), f.now(), audit); err != nil {
		t.Fatal(err)
	}
	want := job.Breaker{Tenant: "acme", Resource: payments, Turn: 2, LastAt: noon, LastCode: "HTTP_503", Wait: time.Minute, ClosedAt: noon.Add(time.Second)}
	if b := f.now(); fmt.Sprint(*b) != fmt.Sprint(want) {
		t.Errorf("it is %+v, want %+v", *b, want)
	}
}

func TestBreakersAreListedByTenant(t *testing.T) {
	f := newFuse(t)
	for _, tenant := range []string{"acme", "other"} {
		for n := range 5 {
			if _, err := f.NoteFailure(t.Context(), job.BreakerFailure{Ref: job.Ref{Tenant: tenant, Job: "a"}, Resource: fmt.Sprint("host-", n), At: noon, Code: "X"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	var names []string
	for cursor := ""; ; {
		page, next, err := f.ListBreakers(t.Context(), "acme", cursor, 2)
		if err != nil || len(page) > 2 {
			t.Fatalf("%d, %v", len(page), err)
		}
		for _, b := range page {
			names = append(names, b.Tenant+"/"+b.Resource)
		}
		if cursor = next; next == "" {
			break
		}
	}
	if want := []string{"acme/host-0", "acme/host-1", "acme/host-2", "acme/host-3", "acme/host-4"}; !slices.Equal(names, want) {
		t.Errorf("the list is %v, want %v", names, want)
	}
}

func TestWhatABreakerCosts(t *testing.T) {
	f := newFuse(t)
	f.now() // nothing there
	seen := f.opened()
	f.now()
	f.leased(seen, 1)
	b, err := f.PassProbe(t.Context(), seen)
	if err == nil {
		_, err = f.CloseBreaker(t.Context(), b, noon)
	}
	if err != nil {
		t.Fatal(err)
	}
	for operation, want := range map[string]float64{"breaker": 0.5, "note failure": 1, "open breaker": 1, "lease probe": 1, "pass probe": 1, "close breaker": 1} {
		if each := f.units[operation] / float64(f.calls[operation]); each != want {
			t.Errorf("%s costs %v units each of %d times, want %v", operation, each, f.calls[operation], want)
		}
	}
}
