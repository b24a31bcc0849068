package dynamo_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/dynamo"
)

// Each tool does its action and answers whether this call did it, and what is told
// to be its result.
var actions = map[string]func(b *bench, inbox *dynamo.Inbox, token int64, result string) (idempotent.State, string, error){
	"record": func(b *bench, inbox *dynamo.Inbox, token int64, result string) (idempotent.State, string, error) {
		o, err := dynamo.Record(b.Context(), inbox, charge(token), result)
		return o.State, o.Value, err
	},
	"transaction": func(b *bench, inbox *dynamo.Inbox, token int64, result string) (idempotent.State, string, error) {
		o, err := dynamo.Transact(b.Context(), inbox, charge(token), result, book())
		return o.State, o.Value, err
	},
	"begin and finish": func(b *bench, inbox *dynamo.Inbox, token int64, result string) (idempotent.State, string, error) {
		o, err := dynamo.Begin[string](b.Context(), inbox, charge(token))
		if err != nil || o.State == idempotent.Existing {
			return o.State, o.Value, err
		}
		return o.State, result, dynamo.Finish(b.Context(), inbox, charge(token), result)
	},
	"fenced update": func(b *bench, inbox *dynamo.Inbox, token int64, result string) (idempotent.State, string, error) {
		_, err := dynamo.Update(b.Context(), inbox.Client, setStatus("a", result), fence(token))
		return idempotent.New, result, err
	},
}

// What DynamoDB or the network does to any one call, the attempt's own write is
// known as its own; what it does to a process, the next attempt finds one of the
// two results, and not two effects.
func TestAFaultAtEveryCall(t *testing.T) {
	faults := []fault.Action{fault.Throttle, fault.FailBefore, fault.LoseResponse, fault.CrashBefore, fault.CrashAfter}
	for tool, act := range actions {
		runs := fault.Sweep(faults, nil, func(trial fault.Trial) {
			t.Run(tool+", "+trial.Name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := setup(t)
					faulty := &dynamo.Inbox{Client: b.through(trial.Decide), Table: "app"}
					state, result, err := act(b, faulty, 1, "first")
					if trial.Action != fault.Pass && !trial.Fired() {
						t.Error("the call that it is put at was not made")
					}
					crashed := slices.Contains([]fault.Action{fault.CrashBefore, fault.CrashAfter}, trial.Action)
					if (err != nil) != crashed || !crashed && (state != idempotent.New || result != "first") {
						t.Errorf("answered %s, %q, %v", state, result, err)
					}
					state, result, err = act(b, b.inbox, 2, "second")
					if existing := state == idempotent.Existing; err != nil || existing && result != "first" || !existing && result != "second" {
						t.Errorf("the next attempt: %s, %q, %v", state, result, err)
					}
					if tool == "transaction" {
						b.wantBooked("1")
					}
				})
			})
		})
		if want := len(faults); runs < want {
			t.Errorf("%s was tried with %d faults, want at least %d", tool, runs, want)
		}
	}
}
