package execute

import (
	"context"
	"errors"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// redriveAfter is when the wake scan looks at what the dead-letter consumer
// gave back.
const redriveAfter = 5 * time.Second

// Redrive carries out the dead-letter table for one message: what is over is
// dropped, what is used up ends, all else gets a new wake-up. Whatever happens,
// the message is deleted only after one of these was seen or written.
func (s *Service) Redrive(ctx context.Context, m lifecycle.Message) Disposal {
	if err := lifecycle.Trusted(s.Off); err != nil {
		return failed(ctx, err)
	}
	p := &passage{Service: s, delivery: Delivery{Message: m}}
	for try := 0; try < maxDecisions; try++ {
		item, err := p.read(ctx)
		if err != nil {
			return failed(ctx, err)
		}
		facts := lifecycle.Facts{Message: m, Item: item, RestoreEpoch: s.RestoreEpoch, Now: s.Clock.Now(), Epsilon: s.epsilon()}
		if item != nil && item.Status == job.Running {
			if err := p.readRevision(ctx, item.Revision); err != nil {
				return failed(ctx, err)
			}
			if err := p.adapt(ctx, item); err != nil {
				return failed(ctx, err)
			}
			facts.Item = p.called(item)
			facts.Retry = p.revision.Definition.Retry
		}
		decision := lifecycle.DecideDeadLetter(facts)
		switch decision.Act {
		case lifecycle.Delete:
			return p.over(ctx, item)
		case lifecycle.Close:
			if err = s.Executions.Close(ctx, item, decision.Transition); err == nil {
				return p.over(ctx, became(item, decision.Transition.To()))
			}
		case lifecycle.Rewake, lifecycle.Hide, lifecycle.Own, lifecycle.Claim, lifecycle.Isolate:
			err = s.Executions.Rewake(ctx, item, s.Clock.Now().Add(redriveAfter), true)
		}
		if err == nil {
			return Disposal{Delete: true}
		}
		if !errors.Is(err, job.ErrLost) {
			return failed(ctx, err)
		}
	}
	return Disposal{Hide: unsure}
}
