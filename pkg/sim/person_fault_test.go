package sim_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	"github.com/belfry-scheduler/belfry/pkg/sim"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

// personVerb is a verb on an execution that did not work: what its first attempt
// makes of it, the request, and what has become of all that at the end.
type personVerb struct {
	failure lifecycle.Failure
	ask     func(ctx context.Context, c *control.Service, ref job.Ref, key job.Key) error
	runs    int // attempts in all
	ends    job.Status
	audit   string
}

var personVerbs = map[string]personVerb{
	"replay": {lifecycle.Failure{Class: lifecycle.PermanentClass, Code: "X"}, func(ctx context.Context, c *control.Service, ref job.Ref, key job.Key) error {
		_, err := c.Replay(ctx, control.ReplayRequest{Ref: ref, Key: key, Actor: "ada", IdempotencyKey: "word"})
		return err
	}, 2, job.Failed, "replay"},
	"run of replays": {lifecycle.Failure{Class: lifecycle.PermanentClass, Code: "X"}, func(ctx context.Context, c *control.Service, ref job.Ref, _ job.Key) error {
		_, err := c.Replays(ctx, control.ReplaysRequest{Tenant: ref.Tenant, All: true, Run: "00VHNGD6M0RE2M4Q0T5N6V8XYZ", Limit: 10, Actor: "ada"})
		return err
	}, 2, job.Failed, "replay"},
	"retry now": {lifecycle.Failure{Class: lifecycle.Transient, Code: "X"}, func(ctx context.Context, c *control.Service, ref job.Ref, key job.Key) error {
		_, err := c.RetryNow(ctx, ref, key, "ada")
		return err
	}, 2, job.Succeeded, "retry now"},
	"verdict to try again": {lifecycle.Failure{Class: lifecycle.UncertainClass, Code: "X"}, func(ctx context.Context, c *control.Service, ref job.Ref, key job.Key) error {
		_, err := c.Review(ctx, control.ReviewRequest{Ref: ref, Key: key, As: job.TryAgain, Note: "seen", Actor: "ada"})
		return err
	}, 2, job.Succeeded, "review as retry"},
	"verdict that it worked": {lifecycle.Failure{Class: lifecycle.UncertainClass, Code: "X"}, func(ctx context.Context, c *control.Service, ref job.Ref, key job.Key) error {
		_, err := c.Review(ctx, control.ReviewRequest{Ref: ref, Key: key, As: job.ItWorked, Note: "seen", Actor: "ada"})
		return err
	}, 1, job.Succeeded, "review as succeeded"},
	"close": {lifecycle.Failure{Class: lifecycle.PermanentClass, Code: "X"}, func(ctx context.Context, c *control.Service, ref job.Ref, key job.Key) error {
		_, err := c.ResolveDead(ctx, control.ResolveRequest{Ref: ref, Key: key, As: job.Handled, Actor: "ada"})
		return err
	}, 1, job.Failed, "resolve as handled"},
}

// Each verb, with each fault at each of its calls. Asked for again by a person who was
// told that it failed, it takes effect once and is audited once; not asked for again it
// takes effect as a whole or not at all, also when the service died between the write
// and the message.
func TestAPersonsVerbTakesEffectOnceWhateverBecomesOfItsCalls(t *testing.T) {
	for name, verb := range personVerbs {
		for _, what := range append([]fault.Action{fault.Conflict}, faults...) {
			if testing.Short() && what != fault.CrashAfter {
				continue
			}
			for _, again := range []bool{true, false} {
				t.Run(fmt.Sprint(name, " ", what, ", asked again: ", again), func(t *testing.T) {
					t.Parallel()
					for n, reached := 1, true; reached; n++ {
						synctest.Test(t, func(t *testing.T) { reached = playPersonVerb(t, verb, what, n, again) })
					}
				})
			}
		}
	}
}

// playPersonVerb has the fault at the nth call; false when there was no such call.
func playPersonVerb(t *testing.T, verb personVerb, what fault.Action, n int, again bool) (reached bool) {
	w := world(t, sim.Options{Work: func(_ context.Context, a *execute.Attempt) *lifecycle.Failure {
		if e := a.Execution; e.Attempt == 1 && e.Kind == job.KindScheduled {
			return &verb.failure
		}
		return nil
	}})
	w.Start(t.Context())
	key := job.ScheduledKey(newYear.Add(2 * time.Minute))
	ref := put(t, w, job.Definition{Job: "job", Schedule: job.Schedule{At: key.ScheduledAt}, Retry: job.Retry{MaxAttempts: 3, Base: job.Duration(3 * time.Hour), Max: job.Duration(3 * time.Hour)}})
	time.Sleep(4 * time.Minute)
	listed(t, w)
	config := w.Backend.Config()
	calls := 0
	config.HTTPClient = fault.Wrap(w.Backend.Client(), func(fault.Call) fault.Action {
		if calls++; calls == n {
			reached = true
			return what
		}
		return fault.Pass
	})
	faulty := assemble.New(assemble.Clients{DynamoDB: dynamodb.NewFromConfig(config), SQS: sqs.NewFromConfig(config)}, assemble.Settings{Pools: w.Options.Pools, Shards: 4})
	err := verb.ask(t.Context(), faulty.Control, ref, key)
	if err != nil && again {
		if err := verb.ask(t.Context(), w.Control.Control, ref, key); err != nil && verb.ends != job.Succeeded {
			t.Errorf("call %d: asked again: %v", n, err) // a retry may have run meanwhile: then that is refused
		}
	}
	time.Sleep(10 * time.Minute)
	audits := 0
	for _, item := range scanned(t, w, w.Control.Store.Tables().Control) {
		if a, err := store.DecodeAudit(item); err == nil && a.Verb == verb.audit {
			audits++
		}
	}
	if err != nil && !again && audits == 0 { // nothing was written
		w.Stop()
		return reached
	}
	w.Stop()
	if runs := w.Runs(); len(runs) != verb.runs || stored(t, w, ref, key).Status != verb.ends {
		t.Errorf("call %d: it is %s after %+v", n, stored(t, w, ref, key).Status, runs)
	}
	if audits != 1 {
		t.Errorf("call %d: it is audited %d times", n, audits)
	}
	if err := w.CheckChanges(t.Context()); err != nil {
		t.Errorf("call %d: %v", n, err)
	}
	judgeRest(t, w)
	return reached
}
