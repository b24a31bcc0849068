package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/dynamo"
)

type receipt struct {
	Number string `json:"number"`
}

// book is the effect of a charge: a counter that shows how often it happened.
func book() types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{TableName: aws.String("app"), Key: pk("account"), UpdateExpression: aws.String("ADD booked :one"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}}}}
}

func (b *bench) wantBooked(want string) {
	b.Helper()
	if got, _ := b.item("account")["booked"].(*types.AttributeValueMemberN); got == nil || got.Value != want {
		b.Errorf("booked %v times, want %s", b.item("account")["booked"], want)
	}
}

func TestTheFirstIsNewAndEveryOtherGetsWhatItStored(t *testing.T) {
	enter := map[string]func(b *bench, action idempotent.Action, r receipt) (idempotent.Outcome[receipt], error){
		"record": func(b *bench, action idempotent.Action, r receipt) (idempotent.Outcome[receipt], error) {
			return dynamo.Record(b.Context(), b.inbox, action, r)
		},
		"transaction": func(b *bench, action idempotent.Action, r receipt) (idempotent.Outcome[receipt], error) {
			return dynamo.Transact(b.Context(), b.inbox, action, r, book())
		},
	}
	for name, enter := range enter {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			first, err := enter(b, charge(1), receipt{"one"})
			if err != nil || !first.IsNew() || first.Value.Number != "one" {
				t.Fatalf("the first: %+v, %v", first, err)
			}
			for token := int64(1); token <= 3; token++ {
				got, err := enter(b, charge(token), receipt{"another"})
				if err != nil || got.State != idempotent.Existing || got.Value.Number != "one" {
					t.Errorf("attempt %d: %+v, %v", token, got, err)
				}
			}
			other, err := enter(b, idempotent.Of(attempt(1), "refund"), receipt{"two"})
			if err != nil || !other.IsNew() {
				t.Errorf("another action: %+v, %v", other, err)
			}
			if name == "transaction" {
				b.wantBooked("2") // charge and refund
			}
		})
	}
}

func TestOfTwentyAtOnceOneDoesItAndAllReturnItsResult(t *testing.T) {
	b := setup(t)
	var news atomic.Int64
	var all sync.WaitGroup
	results := make([]string, 20)
	for i := range results {
		all.Go(func() {
			for {
				got, err := dynamo.Transact(t.Context(), b.inbox, charge(int64(i+1)), receipt{fmt.Sprint(i)}, book())
				var canceled *types.TransactionCanceledException
				if errors.As(err, &canceled) {
					continue // two transactions met; a worker would try again
				}
				if err != nil {
					t.Error(err)
				}
				if got.IsNew() {
					news.Add(1)
				}
				results[i] = got.Value.Number
				return
			}
		})
	}
	all.Wait()
	for i, r := range results {
		if r != results[0] {
			t.Errorf("attempt %d returns %q, attempt 0 %q", i, r, results[0])
		}
	}
	if news.Load() != 1 {
		t.Errorf("%d were new", news.Load())
	}
	b.wantBooked("1")
}

// A crash before or behind each call, and a lost answer: whatever happens the
// effect stands once, and the next attempt returns the result that stands with it.
func TestACrashAroundATransactionLeavesBothOrNeither(t *testing.T) {
	for name, c := range map[string]struct {
		action fault.Action
		state  idempotent.State
	}{
		"crash before": {fault.CrashBefore, idempotent.New},
		"crash after":  {fault.CrashAfter, idempotent.Existing},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			dying := &dynamo.Inbox{Client: b.through(func(fault.Call) fault.Action { return c.action }), Table: "app"}
			if got, err := dynamo.Transact(t.Context(), dying, charge(1), receipt{"one"}, book()); err == nil {
				t.Fatalf("the crash was survived: %+v", got)
			}
			got, err := dynamo.Transact(t.Context(), b.inbox, charge(2), receipt{"two"}, book())
			if err != nil || got.State != c.state || got.Value.Number != map[bool]string{true: "two", false: "one"}[got.IsNew()] {
				t.Errorf("the next attempt: %+v, %v", got, err)
			}
			b.wantBooked("1")
		})
	}
}

func TestAnEntryWhoseAnswerWasLostIsKnownAsOnesOwn(t *testing.T) {
	b := setup(t)
	lossy := &dynamo.Inbox{Client: b.through(func(c fault.Call) fault.Action {
		if c.N%2 == 1 {
			return fault.LoseResponse
		}
		return fault.Pass
	}), Table: "app"}
	if got, err := dynamo.Record(t.Context(), lossy, idempotent.Of(attempt(1), "mail"), receipt{"one"}); err != nil || !got.IsNew() {
		t.Errorf("record: %+v, %v", got, err)
	}
	if got, err := dynamo.Transact(t.Context(), lossy, charge(1), receipt{"one"}, book()); err != nil || !got.IsNew() {
		t.Errorf("transaction: %+v, %v", got, err)
	}
	b.wantBooked("1")
	if got, err := dynamo.Begin[receipt](t.Context(), lossy, idempotent.Of(attempt(1), "call")); err != nil || !got.IsNew() {
		t.Errorf("begin: %+v, %v", got, err)
	}
	if err := dynamo.Finish(t.Context(), lossy, idempotent.Of(attempt(1), "call"), receipt{"one"}); err != nil {
		t.Errorf("finish: %v", err)
	}
}

func TestATransactionThatFailsForAnotherReasonLeavesTheActionOpen(t *testing.T) {
	b := setup(t)
	if _, err := dynamo.Update(t.Context(), b.client, setStatus("account", "newer"), fence(5)); err != nil {
		t.Fatal(err)
	}
	part, err := dynamo.Fence(book(), fence(2))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dynamo.Transact(t.Context(), b.inbox, charge(2), receipt{"two"}, part); !errors.Is(err, idempotent.ErrFenced) {
		t.Errorf("behind a newer fence: %v", err)
	}
	refused := book()
	refused.Update.ConditionExpression = aws.String("attribute_not_exists(pk)")
	var canceled *types.TransactionCanceledException
	if _, err := dynamo.Transact(t.Context(), b.inbox, charge(2), receipt{"two"}, refused); !errors.As(err, &canceled) || worker.FailureOf(err).Class != lifecycle.Transient {
		t.Errorf("the caller's own condition: %v", err)
	}
	if b.item(charge(2).Key) != nil {
		t.Error("the action was entered without its effect")
	}
}

func TestAnInboxKeepsForAsLongAsItIsTold(t *testing.T) {
	b := setup(t)
	for name, c := range map[string]struct {
		keep time.Duration
		want string
	}{"for ever": {0, ""}, "for 90 days": {90 * 24 * time.Hour, fmt.Sprint(attempt(1).Deadline().Unix() + 90*24*3600)}} {
		inbox := &dynamo.Inbox{Client: b.client, Table: "app", Keep: c.keep}
		record, begin := idempotent.Of(attempt(1), "record "+name), idempotent.Of(attempt(1), "begin "+name)
		_, err := dynamo.Record(t.Context(), inbox, record, receipt{})
		_, err2 := dynamo.Begin[receipt](t.Context(), inbox, begin)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{record.Key, begin.Key} {
			got, _ := b.item(key)["expires_at"].(*types.AttributeValueMemberN)
			if (got == nil) != (c.want == "") || got != nil && got.Value != c.want {
				t.Errorf("%s expires at %v, want %q", key, got, c.want)
			}
		}
	}
}

func TestWhatAnInboxCannotTakeIsRefusedBeforeAnyCall(t *testing.T) {
	inbox := &dynamo.Inbox{Client: nil, Table: "app"} // a call would panic
	ctx, nobody := context.Background(), idempotent.Action{Key: "k"}
	for name, err := range map[string]error{
		"record":   second(dynamo.Record(ctx, inbox, nobody, 1)),
		"transact": second(dynamo.Transact(ctx, inbox, nobody, 1)),
		"begin":    second(dynamo.Begin[int](ctx, inbox, nobody)),
		"finish":   dynamo.Finish(ctx, inbox, nobody, 1),
	} {
		if job.CodeOf(err) != job.CodeInvalid {
			t.Errorf("%s of nobody: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"record": second(dynamo.Record(ctx, inbox, charge(1), make(chan int))),
		"finish": dynamo.Finish(ctx, inbox, charge(1), make(chan int)),
	} {
		if err == nil || worker.FailureOf(err).Class != lifecycle.PermanentClass {
			t.Errorf("%s of what is no JSON: %v", name, err)
		}
	}
}

func TestAResultOfAnotherShapeIsPermanent(t *testing.T) {
	b := setup(t)
	if _, err := dynamo.Record(t.Context(), b.inbox, charge(1), "text"); err != nil {
		t.Fatal(err)
	}
	if _, err := dynamo.Record(t.Context(), b.inbox, charge(2), 7); err == nil || worker.FailureOf(err).Class != lifecycle.PermanentClass {
		t.Errorf("text was read as a number: %v", err)
	}
}
