package platform

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// Runtime says how a function is run. The zero value runs it with Lambda's
// defaults.
type Runtime struct {
	Name    string        // of the function, as in its ARN; empty = "function"
	Timeout time.Duration // after which an invocation has failed; 0 = 3 s
	Grace   time.Duration // how long work in hand may go on after the driver was told to stop; 0 = up to its timeout
}

// ErrTimeout is the outcome of an invocation that overran its timeout.
var ErrTimeout = errors.New("the function timed out")

// runner runs the invocations of one driver.
type runner struct {
	Runtime
	stop   context.Context // the driver's own context
	serial atomic.Uint64
	inHand sync.WaitGroup
}

func newRunner(stop context.Context, runtime Runtime) *runner {
	if runtime.Name == "" {
		runtime.Name = "function"
	}
	if runtime.Timeout == 0 {
		runtime.Timeout = 3 * time.Second
	}
	return &runner{Runtime: runtime, stop: stop}
}

// wait returns when nothing is in hand any more.
func (r *runner) wait() { r.inHand.Wait() }

// outcome is what came of an invocation.
type outcome[Result any] struct {
	result Result
	err    error
	late   bool // it came when the context had ended
}

// invoke runs the function once and returns what it returned, ErrTimeout, or
// an error made from its panic. The function's context carries the deadline
// and the Lambda context, and is not ended by the driver's. What a function
// returns in the very instant of its deadline comes too late.
func invoke[Event, Result any](
	parent context.Context, r *runner, event Event, function func(context.Context, Event) (Result, error),
) (Result, error) {
	ctx, cancel := r.contextFor(parent)
	done := make(chan outcome[Result], 1)
	r.inHand.Go(func() {
		defer cancel()
		var o outcome[Result]
		o.result, o.err = guarded(ctx, event, function)
		o.late = ctx.Err() != nil
		done <- o
	})
	var o outcome[Result]
	select {
	case o = <-done:
	case <-ctx.Done():
		select { // it may have finished just before
		case o = <-done:
		default:
			o.late = true
		}
	}
	if o.late {
		var none Result
		return none, fmt.Errorf("%w after %v: %w", ErrTimeout, r.Timeout, context.Cause(ctx))
	}
	return o.result, o.err
}

func guarded[Event, Result any](
	ctx context.Context, event Event, function func(context.Context, Event) (Result, error),
) (result Result, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("the function panicked: %v\n%s", panicked, debug.Stack())
		}
	}()
	return function(ctx, event)
}

// contextFor makes the context of one invocation. It keeps the parent's values
// and not its end; the driver's end shortens it to the grace.
func (r *runner) contextFor(parent context.Context) (context.Context, context.CancelFunc) {
	id := fmt.Sprintf("00000000-0000-4000-9000-%012x", r.serial.Add(1))
	ctx := lambdacontext.NewContext(context.WithoutCancel(parent), &lambdacontext.LambdaContext{
		AwsRequestID:       id,
		InvokedFunctionArn: "arn:aws:lambda:us-east-1:000000000000:function:" + r.Name,
	})
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	if r.Grace == 0 {
		return ctx, cancel
	}
	stopGrace := context.AfterFunc(r.stop, func() {
		timer := time.AfterFunc(r.Grace, cancel)
		context.AfterFunc(ctx, func() { timer.Stop() })
	})
	return ctx, func() { stopGrace(); cancel() }
}

// pause waits for d or for the end of ctx, and tells whether ctx is still
// alive.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
