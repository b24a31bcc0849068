package dynamo_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/dynamo"
)

// outside is a system that knows neither keys nor tokens, but can be asked.
type outside struct{ done atomic.Int64 }

// call is a handler around an effect outside: it asks before it does again.
func call(b *bench, inbox *dynamo.Inbox, token int64, o *outside) (string, error) {
	action := charge(token)
	began, err := dynamo.Begin[string](b.Context(), inbox, action)
	if err != nil || began.State == idempotent.Existing {
		return began.Value, err
	}
	if began.IsNew() || o.done.Load() == 0 {
		o.done.Add(1)
	}
	return "done", dynamo.Finish(b.Context(), inbox, action, "done")
}

func TestACrashAtEveryStepAroundAnOutsideEffectLeavesItDoneOnce(t *testing.T) {
	for _, at := range []int{1, 2} {
		for name, action := range map[string]fault.Action{"before": fault.CrashBefore, "after": fault.CrashAfter} {
			b, o := setup(t), &outside{}
			dying := &dynamo.Inbox{Table: "app", Client: b.through(func(c fault.Call) fault.Action {
				if c.N == at {
					return action
				}
				return fault.Pass
			})}
			if _, err := call(b, dying, 1, o); err == nil {
				t.Fatalf("crash %s call %d was survived", name, at)
			}
			for token := int64(2); token <= 3; token++ {
				if got, err := call(b, b.inbox, token, o); err != nil || got != "done" {
					t.Errorf("crash %s call %d: attempt %d answers %q, %v", name, at, token, got, err)
				}
			}
			if o.done.Load() != 1 {
				t.Errorf("crash %s call %d: done %d times", name, at, o.done.Load())
			}
		}
	}
}

func TestAWorkerFrozenBeforeItFinishesIsOverruled(t *testing.T) {
	b := setup(t)
	old, err := dynamo.Begin[string](t.Context(), b.inbox, charge(1))
	if err != nil || !old.IsNew() {
		t.Fatal(old, err)
	}
	// Frozen here; a newer attempt takes over, asks the outside and finishes.
	if got, err := dynamo.Begin[string](t.Context(), b.inbox, charge(2)); err != nil || got.State != idempotent.Unfinished {
		t.Errorf("the newer attempt: %+v, %v", got, err)
	}
	if got, err := dynamo.Begin[string](t.Context(), b.inbox, charge(1)); !errors.Is(err, idempotent.ErrFenced) {
		t.Errorf("the old worker may begin again: %+v, %v", got, err)
	}
	if err := dynamo.Finish(t.Context(), b.inbox, charge(2), "new"); err != nil {
		t.Error(err)
	}
	var stale *idempotent.StaleError
	if err := dynamo.Finish(t.Context(), b.inbox, charge(1), "old"); !errors.As(err, &stale) || stale.Holder != fence(2) {
		t.Errorf("the old worker finishes with %v", err)
	}
	for _, token := range []int64{1, 2, 3} {
		if got, err := dynamo.Begin[string](t.Context(), b.inbox, charge(token)); err != nil || got.State != idempotent.Existing || got.Value != "new" {
			t.Errorf("attempt %d then finds %+v, %v", token, got, err)
		}
	}
}

func TestOfTwentyThatBeginAtOnceOneIsNew(t *testing.T) {
	b := setup(t)
	var news, unfinished, stale atomic.Int64
	var all sync.WaitGroup
	for token := int64(1); token <= 20; token++ {
		all.Go(func() {
			got, err := dynamo.Begin[string](t.Context(), b.inbox, charge(token))
			switch {
			case errors.Is(err, idempotent.ErrFenced):
				stale.Add(1)
			case err != nil:
				t.Error(err)
			case got.IsNew():
				news.Add(1)
			case got.State == idempotent.Unfinished:
				unfinished.Add(1)
			}
		})
	}
	all.Wait()
	if news.Load() != 1 || news.Load()+unfinished.Load()+stale.Load() != 20 {
		t.Errorf("%d new, %d unfinished, %d refused", news.Load(), unfinished.Load(), stale.Load())
	}
}

func TestAnActionThatWasBegunIsUnfinishedForEveryTool(t *testing.T) {
	b := setup(t)
	if _, err := dynamo.Begin[string](t.Context(), b.inbox, charge(1)); err != nil {
		t.Fatal(err)
	}
	again, err := dynamo.Begin[string](t.Context(), b.inbox, charge(1))
	recorded, err2 := dynamo.Record(t.Context(), b.inbox, charge(2), "x")
	transacted, err3 := dynamo.Transact(t.Context(), b.inbox, charge(2), "x", book())
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]idempotent.State{"begun again by the same attempt": again.State, "recorded": recorded.State, "transacted": transacted.State} {
		if got != idempotent.Unfinished {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestAnInboxInATableWithASortKey(t *testing.T) {
	b := setup(t)
	_, err := b.client.CreateTable(t.Context(), &dynamodb.CreateTableInput{TableName: aws.String("sorted"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, sort := range []string{"INBOX", "OTHER"} {
		inbox := &dynamo.Inbox{Client: b.client, Table: "sorted", Key: "id", Sort: map[string]types.AttributeValue{"sk": word(sort)}}
		for i, want := range []idempotent.State{idempotent.New, idempotent.Unfinished} {
			if got, err := dynamo.Begin[string](t.Context(), inbox, charge(int64(i+1))); err != nil || got.State != want {
				t.Errorf("%s, attempt %d: %+v, %v", sort, i+1, got, err)
			}
		}
		if err := dynamo.Finish(t.Context(), inbox, charge(2), "done"); err != nil {
			t.Error(err)
		}
		if got, err := dynamo.Record(t.Context(), inbox, charge(3), "again"); err != nil || got.Value != "done" {
			t.Errorf("%s: %+v, %v", sort, got, err)
		}
	}
}
