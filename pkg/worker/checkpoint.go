package worker

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// ErrLeaseLost is what Save and Load answer once somebody else may run the
// execution. Return it, or any other error: nothing that this attempt answers
// counts any more.
var ErrLeaseLost error = execute.ErrLeaseLost

// Save stores v, encoded as JSON, as how far the execution has come: the next
// attempt, wherever it runs, loads it. It replaces what was saved before, whole.
// Up to 4 KB lie in the table, up to 16 MiB in the installation's bucket; more is
// refused with TOO_LARGE, and the attempt goes on. ErrLeaseLost: stop, another
// attempt may have begun.
//
// Save after the work that it tells of, and let the work that follows bear being
// done twice.
func (a *Attempt) Save(ctx context.Context, v any) error {
	content, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the checkpoint: %w", err)
	}
	return a.SaveBytes(ctx, content)
}

// SaveBytes is Save of what is encoded already.
func (a *Attempt) SaveBytes(ctx context.Context, content []byte) error {
	if a.run.Progress == nil {
		return noCheckpoints()
	}
	return a.run.Progress.Save(ctx, content)
}

// Load reads what was saved last into v, by whichever attempt. Found is false, and v
// is left as it is, when nothing was. A replay that has saved nothing yet goes on
// from what it repeats, unless it was asked to begin from scratch. Load once, at the
// start: from then on no attempt before this one can save any more.
func (a *Attempt) Load(ctx context.Context, v any) (found bool, err error) {
	content, found, err := a.LoadBytes(ctx)
	if err != nil || !found {
		return false, err
	}
	if err := json.Unmarshal(content, v); err != nil {
		return false, fmt.Errorf("decode the checkpoint: %w", err)
	}
	return true, nil
}

// LoadBytes is Load of what the handler decodes itself.
func (a *Attempt) LoadBytes(ctx context.Context) (content []byte, found bool, err error) {
	if a.run.Progress == nil {
		return nil, false, noCheckpoints()
	}
	return a.run.Progress.Load(ctx)
}

func noCheckpoints() error {
	return &job.Error{Code: job.CodeNotSupported, Field: "checkpoint", Message: "this attempt keeps no checkpoints", Fix: "run it in a worker"}
}
