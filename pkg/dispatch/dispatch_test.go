package dispatch_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

var noon = time.Date(2026, 7, 12, 12, 0, 0, 0, time.UTC)

// queue keeps what is sent and answers each parcel in turn.
type queue struct {
	sent    []job.Parcel
	answers []error
}

func (q *queue) Send(_ context.Context, parcels []job.Parcel) []error {
	q.sent = append(q.sent, parcels...)
	return q.answers[:len(parcels)]
}

func execution(name string) *job.Execution {
	return &job.Execution{Ref: job.Ref{Tenant: "default", Job: name}, Key: job.ScheduledKey(noon), Epoch: 4, Pool: "fast-io", AvailableAt: noon.Add(time.Second)}
}

func parcel(name string, isolated bool) job.Parcel {
	return job.Parcel{Ref: job.Ref{Tenant: "default", Job: name}, Key: job.ScheduledKey(noon), Epoch: 4, RestoreEpoch: 2, Pool: "fast-io",
		NotBefore: noon.Add(time.Second), Isolated: isolated}
}

func TestExecutionsAreSentAsTheyAre(t *testing.T) {
	full := errors.New("full")
	for sentence, row := range map[string]struct {
		answers []error
		send    func(s *dispatch.Service) []error
		sent    []job.Parcel
	}{
		"many at a time, each with its own answer": {[]error{nil, full}, func(s *dispatch.Service) []error {
			return s.Admit(t.Context(), []*job.Execution{execution("a"), execution("b")})
		}, []job.Parcel{parcel("a", false), parcel("b", false)}},
		"one": {[]error{full}, func(s *dispatch.Service) []error { return []error{s.Send(t.Context(), execution("a"))} }, []job.Parcel{parcel("a", false)}},
		"one to the isolation queue": {[]error{nil}, func(s *dispatch.Service) []error { return []error{s.Isolate(t.Context(), execution("a"))} },
			[]job.Parcel{parcel("a", true)}},
		"none": {[]error{}, func(s *dispatch.Service) []error { return s.Admit(t.Context(), nil) }, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			q := &queue{answers: row.answers}
			got := row.send(&dispatch.Service{Queue: q, RestoreEpoch: 2})
			if !reflect.DeepEqual(got, row.answers) || !reflect.DeepEqual(q.sent, row.sent) {
				t.Errorf("sent %+v, answers %v\nwant %+v, %v", q.sent, got, row.sent, row.answers)
			}
		})
	}
}

func TestTheDefaultPools(t *testing.T) {
	pools := dispatch.Pools(dispatch.DefaultPools())
	if got := pools.Names(); !reflect.DeepEqual(got, []string{"fast-io", "external-api", "cpu-heavy", "long-running"}) {
		t.Errorf("names %v", got)
	}
	for _, p := range pools {
		if job.CheckName("pool", p.Name) != nil || p.Slots < 1 || p.Batch < 1 || p.Batch > 10 || p.Lease < 5*time.Second || p.Lease > p.Ceiling {
			t.Errorf("a pool out of bounds: %+v", p)
		}
		ceiling, known := pools.Ceiling(p.Name)
		if !known || ceiling != p.Ceiling || pools.Lease(p.Name) != p.Lease {
			t.Errorf("%s is not found again", p.Name)
		}
	}
	if lease := pools.Lease("fast-io"); lease != 15*time.Second {
		t.Errorf("an interrupted execution of fast-io is rescued after %v, want 15 s", lease)
	}
	if ceiling, _ := pools.Ceiling("long-running"); ceiling != job.MaxTimeout.Std() {
		t.Errorf("the longest timeout is %v, but no pool allows more than %v", job.MaxTimeout, ceiling)
	}
}

func TestAPoolThatIsGone(t *testing.T) {
	pools := dispatch.Pools(dispatch.DefaultPools())
	if _, known := pools.Ceiling("gone"); known {
		t.Error("new jobs may use it")
	}
	if lease := pools.Lease("gone"); lease != 30*time.Second {
		t.Errorf("its executions could not end: lease %v", lease)
	}
}
