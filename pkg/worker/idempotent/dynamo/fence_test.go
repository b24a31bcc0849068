package dynamo_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/dynamo"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

func TestAFrozenWorkersWriteIsRefusedAndTheNewerOnesStands(t *testing.T) {
	b := setup(t)
	writes := map[string]func(client dynamo.Client, key string, f idempotent.Fence, status string) error{
		"update": func(client dynamo.Client, key string, f idempotent.Fence, status string) error {
			_, err := dynamo.Update(t.Context(), client, setStatus(key, status), f)
			return err
		},
		"put": func(client dynamo.Client, key string, f idempotent.Fence, status string) error {
			_, err := dynamo.Put(t.Context(), client, &dynamodb.PutItemInput{TableName: aws.String("app"), Item: map[string]types.AttributeValue{"pk": word(key), "status": word(status)}}, f)
			return err
		},
		"transaction": func(client dynamo.Client, key string, f idempotent.Fence, status string) error {
			in := setStatus(key, status)
			part, err := dynamo.Fence(types.TransactWriteItem{Update: &types.Update{TableName: in.TableName, Key: in.Key, UpdateExpression: in.UpdateExpression,
				ExpressionAttributeNames: in.ExpressionAttributeNames, ExpressionAttributeValues: in.ExpressionAttributeValues}}, f)
			if err != nil {
				return err
			}
			_, err = client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{part}})
			return dynamo.Lost(err, f)
		},
	}
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			// The old worker freezes with its request on the wire.
			frozen, thaw := make(chan struct{}), make(chan struct{})
			old := b.through(func(fault.Call) fault.Action { close(frozen); <-thaw; return fault.Pass })
			answer := make(chan error, 1)
			go func() { answer <- write(old, name, fence(1), "old") }()
			<-frozen
			if err := write(b.client, name, fence(2), "new"); err != nil {
				t.Fatal(err)
			}
			close(thaw)
			var stale *idempotent.StaleError
			if err := <-answer; !errors.As(err, &stale) || !errors.Is(err, idempotent.ErrFenced) || stale.Fence != fence(1) || stale.Holder != fence(2) {
				t.Errorf("the old worker was told %v", err)
			}
			b.wantText(name, "status", "new")
			b.wantText(name, dynamo.FenceAttribute, string(fence(2)))
		})
	}
}

func TestWhoMayWriteBehindWhom(t *testing.T) {
	b := setup(t)
	tuesday := idempotent.FenceOf(workertest.Attempt(workertest.Facts{Job: "billing", ScheduledAt: monday.AddDate(0, 0, 1), FencingToken: 1}))
	replay := idempotent.FenceOf(workertest.Attempt(workertest.Facts{Job: "billing", ScheduledAt: monday.AddDate(0, 0, 2), FencingToken: 1,
		ReplayOf: job.ID("billing", job.ScheduledKey(monday), 1)}))
	for _, c := range []struct {
		name          string
		first, second idempotent.Fence
		refused       bool
	}{
		{"the same attempt writes again", fence(2), fence(2), false},
		{"a newer attempt", fence(9), fence(10), false},
		{"an older attempt", fence(10), fence(9), true},
		{"the next day's first attempt, behind three of today", fence(3), tuesday, false},
		{"a replay's first attempt, behind three of what it repeats", fence(3), replay, false},
		{"what was replayed, behind the replay", replay, fence(3), true},
		{"a replay of Monday, behind Tuesday", tuesday, replay, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := dynamo.Update(t.Context(), b.client, setStatus(c.name, "first"), c.first); err != nil {
				t.Fatal(err)
			}
			_, err := dynamo.Update(t.Context(), b.client, setStatus(c.name, "second"), c.second)
			if errors.Is(err, idempotent.ErrFenced) != c.refused || !c.refused && err != nil {
				t.Errorf("answered %v, refused must be %v", err, c.refused)
			}
			b.wantText(c.name, "status", map[bool]string{true: "first", false: "second"}[c.refused])
		})
	}
}

func TestTheFenceStandsBesideTheCallersOwnExpressions(t *testing.T) {
	b := setup(t)
	number := &types.AttributeValueMemberN{Value: "1"}
	for _, c := range []struct{ expression, names, condition string }{
		{"", "", ""},
		{"SET #n = :n", "#n", ""},
		{"set #n = :n, beside = :n", "#n", "attribute_exists(pk) OR attribute_not_exists(pk)"},
		{"REMOVE gone", "", ""},
		{"ADD #n :n SET beside = :n", "#n", ""},
		{"REMOVE #SET, gone\n SET\n#n = :n", "#n #SET", ""},
	} {
		expression, key := c.expression, "expression "+c.expression
		in := &dynamodb.UpdateItemInput{TableName: aws.String("app"), Key: pk(key)}
		if c.condition != "" {
			in.ConditionExpression = &c.condition
		}
		if expression != "" {
			in.UpdateExpression = &expression
		}
		if c.names != "" {
			in.ExpressionAttributeNames, in.ExpressionAttributeValues = map[string]string{}, map[string]types.AttributeValue{":n": number}
			for _, name := range strings.Fields(c.names) {
				in.ExpressionAttributeNames[name] = strings.ToLower(name[1:])
			}
		}
		if _, err := dynamo.Update(t.Context(), b.client, in, fence(1)); err != nil {
			t.Errorf("%q: %v", expression, err)
		}
		b.wantText(key, dynamo.FenceAttribute, string(fence(1)))
		if in.ExpressionAttributeNames["#belfry_fence"] != "" || in.ExpressionAttributeValues[":belfry_fence"] != nil {
			t.Errorf("%q: the caller's own request was changed", expression)
		}
	}
	// An OR of the caller's must not let the fence be passed over.
	in := setStatus("expression REMOVE gone", "old")
	in.ConditionExpression = aws.String("attribute_exists(pk) OR attribute_exists(pk)")
	if _, err := dynamo.Update(t.Context(), b.client, in, "0"); !errors.Is(err, idempotent.ErrFenced) {
		t.Errorf("beside an OR an older attempt was told %v", err)
	}
}

func TestACallersOwnConditionThatFailsIsNotTakenForALostFence(t *testing.T) {
	b := setup(t)
	in := setStatus("a", "paid")
	in.ConditionExpression = aws.String("#status = :status")
	_, err := dynamo.Update(t.Context(), b.client, in, fence(1))
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) || errors.Is(err, idempotent.ErrFenced) {
		t.Errorf("answered %v", err)
	}
	if b.item("a") != nil {
		t.Error("it was written")
	}
}

func TestOfTwentyAttemptsAtOnceTheNewestStands(t *testing.T) {
	b := setup(t)
	var all sync.WaitGroup
	for token := int64(1); token <= 20; token++ {
		all.Go(func() {
			_, err := dynamo.Update(t.Context(), b.client, setStatus("a", string(fence(token))), fence(token))
			if err != nil && !errors.Is(err, idempotent.ErrFenced) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	b.wantText("a", "status", string(fence(20)))
	b.wantText("a", dynamo.FenceAttribute, string(fence(20)))
}

func TestAFencedWriteWhoseAnswerWasLostIsMadeAgain(t *testing.T) {
	b := setup(t)
	client := b.through(func(c fault.Call) fault.Action {
		if c.N == 1 {
			return fault.LoseResponse
		}
		return fault.Pass
	})
	if _, err := dynamo.Update(t.Context(), client, setStatus("a", "once"), fence(1)); err != nil {
		t.Errorf("its own write stood in its way: %v", err)
	}
	b.wantText("a", "status", "once")
}

func TestWhatCannotBeFencedIsRefused(t *testing.T) {
	b := setup(t)
	for name, err := range map[string]error{
		"a delete":         second(dynamo.Fence(types.TransactWriteItem{Delete: &types.Delete{TableName: aws.String("app"), Key: pk("a")}}, fence(1))),
		"nothing":          second(dynamo.Fence(types.TransactWriteItem{}, fence(1))),
		"a part of nobody": second(dynamo.Fence(types.TransactWriteItem{Put: &types.Put{}}, "")),
		"nobody's update":  second(dynamo.Update(t.Context(), b.client, setStatus("a", "x"), "")),
		"nobody's put":     second(dynamo.Put(t.Context(), b.client, &dynamodb.PutItemInput{}, "")),
	} {
		var refused *job.Error
		if !errors.As(err, &refused) || refused.Fix == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
