package control

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Breakers is what the control plane does to circuit breakers.
type Breakers interface {
	// Breaker reads one; nil when nothing is known. It may be a moment old.
	Breaker(ctx context.Context, tenant, resource string) (*job.Breaker, error)
	// ListBreakers strongly pages through a tenant's, closed ones included.
	ListBreakers(ctx context.Context, tenant, cursor string, limit int) ([]job.Breaker, string, error)
	// CloseBreakerByHand closes the one seen; job.ErrLost when it has closed or opened
	// anew.
	CloseBreakerByHand(ctx context.Context, seen *job.Breaker, a job.Audit) error
}

// OpenBreakers pages through a tenant's breakers that are not closed, by resource. A
// page may hold fewer than limit, or none, although there are more.
func (s *Service) OpenBreakers(ctx context.Context, tenant, cursor string, limit int) ([]job.Breaker, string, error) {
	list, next, err := s.Breakers.ListBreakers(ctx, tenant, cursor, limit)
	now := s.Clock.Now()
	return slices.DeleteFunc(list, func(b job.Breaker) bool { return b.State(now) == job.BreakerClosed }), next, err
}

// BreakerRequest closes a breaker by hand.
type BreakerRequest struct {
	Tenant   string
	Resource string
	Note     string
	Actor    string
}

// CloseBreaker closes a breaker by hand: workers know within seconds, and what it
// held back begins as it comes back. Closing a closed one changes nothing. The next
// failures in a row open it again.
func (s *Service) CloseBreaker(ctx context.Context, r BreakerRequest) (*job.Breaker, error) {
	if err := job.CheckNote(r.Note); err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		b, err := s.Breakers.Breaker(ctx, r.Tenant, r.Resource)
		if err != nil {
			return nil, err
		}
		if b == nil {
			return nil, &job.Error{Code: job.CodeNotFound, Field: "resource", Value: job.Shorten(r.Resource), Message: "there is no breaker of \"" + job.Shorten(r.Resource) + "\"",
				Fix: "list the open ones with: belfry breakers list"}
		}
		now := s.Clock.Now().Truncate(time.Millisecond)
		if b.State(now) == job.BreakerClosed {
			return b, nil
		}
		// A colon is in no job's name.
		audit := job.Audit{At: now, Ref: job.Ref{Tenant: r.Tenant, Job: "breaker:" + r.Resource}, Verb: "breaker-close", Actor: r.Actor, Epoch: b.Turn, Note: r.Note}
		err = s.Breakers.CloseBreakerByHand(ctx, b, audit)
		switch {
		case err == nil:
			b.Turn, b.Failures, b.Jobs, b.OpenedAt, b.Until, b.Probes, b.Passed, b.ClosedAt = b.Turn+1, 0, nil, time.Time{}, time.Time{}, 0, 0, now
			return b, nil
		case !errors.Is(err, job.ErrLost) || try >= maxTries:
			return nil, err
		}
	}
}
