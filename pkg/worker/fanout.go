package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Child is one part of the work that an execution hands out.
type Child struct {
	// Payload is encoded as JSON and is the child's payload; at most 32 KB. Nil = none.
	Payload any
}

// FanOut says how children run, and what comes after them.
type FanOut struct {
	// Handler is the name of the handler that each child runs; required.
	Handler string
	// Reduce is the name of the handler that runs, once, when all children have ended;
	// empty = none does. It reads how they ended from Attempt.Children.
	Reduce string
	// Pool is the children's; empty = the execution's own.
	Pool string
	// Timeout bounds a child's attempt; zero = the job's timeout.
	Timeout job.Duration
	// Retry is that of each child; nil = the job's.
	Retry *job.Retry
	// MaxFailed is how many children may fail, MaxFailedPercent how many of a hundred;
	// the larger one holds, and zero of both is none. Once more have, those that have
	// not begun are canceled, and the reduce execution fails with CHILDREN_FAILED.
	MaxFailed        int
	MaxFailedPercent int
}

// Codes of fan-outs that failed for good.
const (
	CodeFanOutChanged  = execute.CodeFanOutChanged
	CodeChildrenFailed = execute.CodeChildrenFailed
)

// FanOut makes children of the execution, which run by themselves: side by side, on
// any worker of their pool, each with attempts and retries of its own. It returns once
// all are on their way. The execution then goes on; when it ends without success,
// its children are canceled, and so they are when somebody cancels it after its end.
//
// It is done page by page, and an attempt that is interrupted is gone on with by the
// next one: each must ask for the same children in the same order. Other ones are
// refused for good with FAN_OUT_CHANGED; a list that may change belongs into a
// checkpoint first. A handler that returns nil although FanOut failed is tried again.
//
// Up to 100 000 children. One costs about five write units, of which two are its page's.
func (a *Attempt) FanOut(ctx context.Context, children []Child, o FanOut) error {
	if a.run.Family == nil {
		return &job.Error{Code: job.CodeNotSupported, Field: "children", Message: "this attempt makes no children", Fix: "run it in a worker"}
	}
	r, err := o.request(children)
	if err != nil {
		return Permanent(WithCode(string(job.CodeOf(err)), err))
	}
	err = a.run.Family.FanOut(ctx, r)
	var refused *job.Error
	if errors.As(err, &refused) && (refused.Code == CodeFanOutChanged || refused.Code == job.CodeNotSupported) {
		return Permanent(WithCode(string(refused.Code), err))
	}
	return err
}

func (o FanOut) request(children []Child) (execute.Request, error) {
	r := execute.Request{Handler: o.Handler, Reduce: o.Reduce, Pool: o.Pool, Timeout: o.Timeout, Retry: o.Retry,
		MaxFailed: max(o.MaxFailed, len(children)*o.MaxFailedPercent/100), Payloads: make([]json.RawMessage, len(children))}
	if err := o.check(len(children)); err != nil {
		return r, err
	}
	for i, c := range children {
		if c.Payload == nil {
			continue
		}
		encoded, err := json.Marshal(c.Payload)
		if err != nil {
			return r, fmt.Errorf("encode the payload of child %d: %w", i, err)
		}
		if len(encoded) > job.MaxPayload {
			return r, &job.Error{Code: job.CodeTooLarge, Field: fmt.Sprintf("children[%d]", i), Value: fmt.Sprintf("%d bytes", len(encoded)), Bound: fmt.Sprintf("%d bytes", job.MaxPayload),
				Message: "the payload of a child is too large", Fix: "hand it a reference to where the data lies"}
		}
		r.Payloads[i] = encoded
	}
	return r, nil
}

func (o FanOut) check(children int) error {
	if children > job.MaxChildren {
		return outOfFanOut("children", children, fmt.Sprintf("%d", job.MaxChildren))
	}
	if err := job.CheckName("fan_out.handler", o.Handler); err != nil {
		return err
	}
	for field, name := range map[string]string{"fan_out.reduce": o.Reduce, "fan_out.pool": o.Pool} {
		if name == "" {
			continue
		}
		if err := job.CheckName(field, name); err != nil {
			return err
		}
	}
	switch {
	case o.MaxFailed < 0:
		return outOfFanOut("fan_out.max_failed", o.MaxFailed, "0 or more")
	case o.MaxFailedPercent < 0 || o.MaxFailedPercent > 100:
		return outOfFanOut("fan_out.max_failed_percent", o.MaxFailedPercent, "0 to 100")
	case o.Timeout < 0 || o.Timeout > job.MaxTimeout:
		return outOfFanOut("fan_out.timeout", o.Timeout, "0 to "+job.MaxTimeout.String())
	}
	return nil
}

func outOfFanOut(field string, value any, bound string) error {
	text := fmt.Sprint(value)
	return &job.Error{Code: job.CodeInvalid, Field: field, Value: text, Bound: bound, Message: text + " is out of bounds"}
}

// ChildNumber is which child of its fan-out this is, from 0; false when it is none.
func (a *Attempt) ChildNumber() (int, bool) {
	k := a.run.Execution.Key
	return k.Number(), k.Kind == job.KindChild
}

// Family tells how many children there were, and how many of them failed.
type Family struct {
	Children int
	Failed   int
}

// Outcome is how the children ended, for the handler that runs after them.
func (a *Attempt) Outcome() (Family, error) {
	if a.run.Family == nil {
		return Family{}, &job.Error{Code: job.CodeNotSupported, Field: "children", Message: "this attempt has no children", Fix: "run it in a worker"}
	}
	f, err := a.run.Family.Outcome()
	if err != nil {
		return Family{}, err
	}
	return Family{Children: f.Total, Failed: f.Failed}, nil
}

// Ended is one child as it ended.
type Ended struct {
	Number    int
	ID        string
	Status    job.Status
	ErrorCode string // of the last failure; empty when it succeeded

	family *execute.Family
	key    job.Key
}

// Load reads what the child saved last into v: its result, where it saves one. Found
// is false when it saved nothing.
func (e Ended) Load(ctx context.Context, v any) (found bool, err error) {
	content, found, err := e.family.Checkpoint(ctx, e.key)
	if err != nil || !found {
		return false, err
	}
	if err := json.Unmarshal(content, v); err != nil {
		return false, fmt.Errorf("decode what child %d saved: %w", e.Number, err)
	}
	return true, nil
}

// Children goes over all children in their order, for the handler that runs after
// them. An error ends it.
func (a *Attempt) Children(ctx context.Context) iter.Seq2[Ended, error] {
	return func(yield func(Ended, error) bool) {
		all, err := a.Outcome()
		if err != nil {
			yield(Ended{}, err)
			return
		}
		for page := range (all.Children + job.PageSize - 1) / job.PageSize {
			children, err := a.run.Family.Children(ctx, page)
			if err != nil {
				yield(Ended{}, err)
				return
			}
			for i := range children {
				c := &children[i]
				if !yield(Ended{Number: c.Number(), ID: c.ID(), Status: c.Status, ErrorCode: c.ErrorCode, family: a.run.Family, key: c.Key}, nil) {
					return
				}
			}
		}
	}
}
