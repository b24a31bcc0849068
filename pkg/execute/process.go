package execute

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/observe"
)

const (
	// waitHere is the longest that a worker waits with a message in its hands
	// instead of giving it back: the rest of a second that a queue's whole-second
	// delay leaves, and a little more.
	waitHere = 2 * time.Second
	// maxDecisions bounds how often one message is decided on anew when the
	// execution changes under it.
	maxDecisions = 4
	// longestHide is what SQS allows, less a margin.
	longestHide = 11 * time.Hour
	// unsure is how long a message is hidden when something failed.
	unsure = 15 * time.Second
)

// passage is one message on its way through the plane.
type passage struct {
	*Service
	delivery Delivery
	nonce    string
	head     *job.Head
	revision *job.Revision
	family   *job.FanOut   // of a child, or of what runs after children
	span     *observe.Span // of the attempt
}

// Process carries one message through: it returns when the attempt has ended,
// or when there is nothing to run. It never panics because of a message.
func (s *Service) Process(ctx context.Context, d Delivery) Disposal {
	p := &passage{Service: s, delivery: d, nonce: s.Nonce()}
	disposal := p.trustedProcess(ctx)
	if disposal.Err != nil {
		s.log().Warn("message not carried through", slog.String("job", d.Message.Ref.String()), slog.String("key", d.Message.Key.String()),
			slog.Bool("deleted", disposal.Delete), slog.Any("error", disposal.Err))
	}
	return disposal
}

// failed gives the message back after a while; at once when this worker stops.
func failed(ctx context.Context, err error) Disposal {
	if d, is := held(ctx, err); is {
		return d
	}
	if ctx.Err() != nil {
		return Disposal{Err: err}
	}
	return Disposal{Hide: unsure, Err: err}
}

// trustedProcess decides nothing by a clock that is known to be wrong.
func (p *passage) trustedProcess(ctx context.Context) Disposal {
	if err := lifecycle.Trusted(p.Off); err != nil {
		return failed(ctx, err)
	}
	return p.process(ctx)
}

func (p *passage) process(ctx context.Context) Disposal {
	item, sentAt, err := p.approach(ctx)
	for try := 0; try < maxDecisions; try++ {
		if err != nil {
			return failed(ctx, err)
		}
		facts, factErr := p.facts(ctx, item)
		if factErr != nil {
			return failed(ctx, factErr)
		}
		decision := lifecycle.Decide(facts)
		p.log().Debug("message decided", slog.String("job", p.delivery.Message.Ref.String()), slog.String("key", p.delivery.Message.Key.String()),
			slog.String("act", string(decision.Act)), slog.String("why", decision.Why))
		switch decision.Act {
		case lifecycle.Delete:
			return p.over(ctx, item)
		case lifecycle.Own:
			return p.run(ctx, item, sentAt)
		case lifecycle.Isolate:
			if err := p.Isolator.Isolate(ctx, item); err != nil {
				return failed(ctx, err)
			}
			return Disposal{Delete: true}
		case lifecycle.Hide:
			if wait := decision.Until.Sub(p.Clock.Now()); wait > waitHere || item.Status == job.Running {
				return Disposal{Hide: min(max(wait, 0), longestHide)}
			}
			if err := p.Clock.Wait(ctx, decision.Until); err != nil {
				return Disposal{Err: err}
			}
		case lifecycle.Close:
			err := p.Executions.Close(ctx, item, decision.Transition)
			if err == nil {
				return p.over(ctx, became(item, decision.Transition.To()))
			}
			if !errors.Is(err, job.ErrLost) {
				return failed(ctx, err)
			}
			item, err = p.read(ctx)
			if err != nil {
				return failed(ctx, err)
			}
		case lifecycle.Claim, lifecycle.Rewake:
			item, sentAt, err = p.claim(ctx, item)
		}
	}
	return Disposal{Hide: unsure}
}

// over is the end of a message whose execution has ended: it may be deleted once
// everything is done that the end asks for.
func (p *passage) over(ctx context.Context, item *job.Execution) Disposal {
	if err := p.follow(ctx, item); err != nil {
		return failed(ctx, err)
	}
	return Disposal{Delete: true}
}

// became is the execution under its new status.
func became(e *job.Execution, to job.Status) *job.Execution {
	ended := *e
	ended.Status = to
	return &ended
}

// dueAt is when the execution is due as far as its message tells: a job with jitter
// is due after its scheduled time.
func (p *passage) dueAt() time.Time {
	if at := p.delivery.Message.Key.ScheduledAt; p.delivery.NotBefore.Before(at) {
		return at
	}
	return p.delivery.NotBefore
}

// approach makes the first step: the claim itself when the message is new and
// its life is the job's current one, a read otherwise. It returns the
// execution as it then is, and when a claim was sent.
func (p *passage) approach(ctx context.Context) (*job.Execution, time.Time, error) {
	m := p.delivery.Message
	if m.Key.Kind != job.KindScheduled || m.Receives > 1 || m.Isolated {
		item, err := p.read(ctx)
		return item, time.Time{}, err
	}
	if err := p.readHead(ctx); err != nil {
		return nil, time.Time{}, err
	}
	if p.head == nil || p.head.Epoch != m.Epoch {
		item, err := p.read(ctx)
		return item, time.Time{}, err
	}
	if err := p.readRevision(ctx, p.head.Revision); err != nil {
		return nil, time.Time{}, err
	}
	if start := p.revision.Definition.StartDeadline; start > 0 && p.Clock.Now().After(p.dueAt().Add(start.Std())) {
		item, err := p.read(ctx) // it may have been made late, which only the item tells
		return item, time.Time{}, err
	}
	if ahead := p.delivery.NotBefore.Sub(p.Clock.Now()); ahead > 0 {
		if ahead > waitHere {
			item, err := p.read(ctx)
			return item, time.Time{}, err
		}
		if err := p.Clock.Wait(ctx, p.delivery.NotBefore); err != nil {
			return nil, time.Time{}, err
		}
	}
	return p.claim(ctx, nil)
}

// claim tries to take the execution as seen (nil: unseen, first attempt). It
// returns what is there afterwards: ours, recognised by the nonce, or not.
func (p *passage) claim(ctx context.Context, seen *job.Execution) (*job.Execution, time.Time, error) {
	if p.delivery.Begin != nil {
		if err := p.delivery.Begin(ctx, seen); err != nil {
			return nil, time.Time{}, err
		}
	}
	if err := p.admitted(ctx, seen); err != nil {
		return nil, time.Time{}, err
	}
	now := p.Clock.Now()
	m := p.delivery.Message
	pool := ""
	if p.head != nil {
		pool = p.head.Pool
	}
	if seen != nil {
		pool = seen.Pool
	}
	request := job.ClaimRequest{Ref: m.Ref, Key: m.Key, Epoch: m.Epoch, Owner: p.Owner, Nonce: p.nonce,
		Now: now, Until: now.Add(p.Leases.Lease(pool)), Seen: seen}
	if seen != nil && seen.Status == job.Running && p.revision != nil && p.revision.Definition.Retry.MaxRun > 0 {
		request.Ran = lifecycle.RanUntil(seen, seen.Lease.Until)
	}
	item, err := p.Executions.Claim(ctx, request)
	if errors.Is(err, job.ErrLost) {
		err = nil
	}
	return item, now, err
}

func (p *passage) read(ctx context.Context) (*job.Execution, error) {
	return p.Executions.Execution(ctx, p.delivery.Message.Ref, p.delivery.Message.Key)
}

func (p *passage) readHead(ctx context.Context) (err error) {
	p.head, err = p.Definitions.Head(ctx, p.delivery.Message.Ref)
	return err
}

func (p *passage) readRevision(ctx context.Context, number int) (err error) {
	if p.revision != nil && p.revision.Number == number {
		return nil
	}
	p.revision, err = p.Definitions.Revision(ctx, p.delivery.Message.Ref, number)
	if err == nil && p.revision == nil {
		err = &job.Error{Code: job.CodeUnavailable, Field: "revision", Message: "the revision of the execution is not there"}
	}
	return err
}

// facts gathers what Decide looks at, reading no more than the item needs.
func (p *passage) facts(ctx context.Context, item *job.Execution) (lifecycle.Facts, error) {
	f := lifecycle.Facts{Message: p.delivery.Message, Item: item, Nonce: p.nonce, RestoreEpoch: p.RestoreEpoch, Now: p.Clock.Now(), Epsilon: p.epsilon()}
	if item == nil || item.Epoch != f.Message.Epoch || lifecycle.Terminal(item.Status) || item.Status == job.Withdrawn || item.Status == job.NeedsReview {
		return f, nil
	}
	if err := p.readRevision(ctx, item.Revision); err != nil {
		return f, err
	}
	if err := p.adapt(ctx, item); err != nil {
		return f, err
	}
	f.Item = p.called(item)
	f.Retry, f.Start = p.revision.Definition.Retry, p.revision.Definition.StartDeadline
	if item.Status != job.Scheduled || !item.Fenced() {
		return f, nil
	}
	if p.head == nil {
		if err := p.readHead(ctx); err != nil {
			return f, err
		}
	}
	var carryUntil time.Time
	if p.head != nil && item.Epoch < p.head.Epoch && item.Epoch >= p.head.RunsFrom {
		later, err := p.Definitions.Revision(ctx, item.Ref, item.Revision+1)
		if err != nil {
			return f, err
		}
		carryUntil = later.Carries()
	}
	f.MayBegin = lifecycle.MayBegin(p.head, item.Epoch, item.ScheduledAt, carryUntil)
	return f, nil
}
