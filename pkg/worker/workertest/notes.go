package workertest

import (
	"context"
	"sync"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// notes are the attempts of a bench's executions, in full: an execution itself keeps
// only the first and the latest lines of its timeline. Only what the table took is
// noted.
type notes struct {
	mu    sync.Mutex
	begun map[string][]attempt
}

type attempt struct {
	Attempted
	at    time.Time
	ended time.Time
}

// noting is the store in the hands of a worker.
type noting struct {
	execute.Executions
	notes *notes
}

func named(e *job.Execution) string { return e.Ref.String() + "/" + e.Key.String() }

// Claim implements execute.Executions.
func (n noting) Claim(ctx context.Context, c job.ClaimRequest) (*job.Execution, error) {
	e, err := n.Executions.Claim(ctx, c)
	if err == nil {
		n.notes.claimed(e, c)
	}
	return e, err
}

// Settle implements execute.Executions.
func (n noting) Settle(ctx context.Context, held *job.Execution, t lifecycle.Transition, wakeAt time.Time) error {
	err := n.Executions.Settle(ctx, held, t, wakeAt)
	if err == nil {
		n.notes.settled(held, t)
	}
	return err
}

func (n *notes) claimed(e *job.Execution, c job.ClaimRequest) {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := n.begun[named(e)]
	free := e.CreatedAt
	if last := len(all) - 1; last >= 0 {
		if all[last].Outcome == job.Running {
			all[last].Lost, all[last].Code, all[last].ended = true, string(job.CodeLeaseLost), all[last].at
		}
		free = all[last].ended
	}
	n.begun[named(e)] = append(all, attempt{at: c.Now, Attempted: Attempted{Number: e.Attempt, Token: e.FencingToken, Worker: c.Owner, Waited: c.Now.Sub(free), Outcome: job.Running}})
}

func (n *notes) settled(held *job.Execution, t lifecycle.Transition) {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := n.begun[named(held)]
	for i := range all {
		if all[i].Number == held.Attempt {
			all[i].Outcome, all[i].Code, all[i].ended, all[i].Took = t.To(), t.ErrorCode(), t.At(), t.At().Sub(all[i].at)
		}
	}
}

func (n *notes) of(e *job.Execution) []Attempted {
	n.mu.Lock()
	defer n.mu.Unlock()
	var told []Attempted
	for _, a := range n.begun[named(e)] {
		told = append(told, a.Attempted)
	}
	return told
}
