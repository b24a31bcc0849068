package dynamo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
)

// The attributes of an inbox's items, beside the key.
const (
	resultAttribute = "result" // JSON; absent = begun, not finished
	callAttribute   = "entered_by"
)

// Inbox is a table with one item for each action that was begun or done. The table
// may hold other things, too. It is safe for concurrent use.
type Inbox struct {
	Client Client
	Table  string
	// Key is the partition key, a string; empty = pk.
	Key string
	// Sort is the sort key's attribute and its value for all actions, where the table
	// has one; nil where not. Two inboxes that differ in it do not see each other.
	Sort map[string]types.AttributeValue
	// Keep is how long after the attempt's deadline an action is remembered, by the
	// time to live of the table on ExpiresAt; zero = for ever. Longer than
	// executions can still be replayed, or a replay does the action again. What has
	// expired counts until DynamoDB has removed it, which may take days.
	Keep time.Duration
	// ExpiresAt is the attribute of the table's time to live; empty = expires_at.
	ExpiresAt string
}

// calls tells two calls under one fence apart. An attempt lives in one process, so
// fence and number are unique.
var calls atomic.Int64

func callOf(f idempotent.Fence) string {
	return string(f) + "/" + strconv.FormatInt(calls.Add(1), 10)
}

// Record enters an action that is done by being recorded, with what later attempts are to return.
//
// Requires: no item of the action. Writes: the item.
// Loses when: it is there: Existing with what was stored, or Unfinished when Begin
// made it. Our own write whose answer was lost carries our call and is New.
// Then the caller: returns the Value, whoever stored it.
func Record[T any](ctx context.Context, inbox *Inbox, action idempotent.Action, result T) (idempotent.Outcome[T], error) {
	put, call, err := inbox.entry(action, result)
	if err != nil {
		return idempotent.Outcome[T]{}, err
	}
	_, err = inbox.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: put.TableName, Item: put.Item, ConditionExpression: put.ConditionExpression,
		ExpressionAttributeNames: put.ExpressionAttributeNames, ReturnValuesOnConditionCheckFailure: put.ReturnValuesOnConditionCheckFailure})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return outcome(failed.Item, call, result)
	}
	if err != nil {
		return idempotent.Outcome[T]{}, fmt.Errorf("record %s: %w", action.Key, err)
	}
	return idempotent.Outcome[T]{State: idempotent.New, Value: result}, nil
}

// Transact enters an action in one transaction with the parts that are its
// effect: both stand, or neither. Parts made by Fence are read by Lost.
//
// Requires: no item of the action, and what the parts require. At most 99 parts.
// Writes: the item, and the parts.
// Loses when: the item is there: Existing, and nothing is written, whatever else
// was wrong. When only a part's condition failed, its error; nothing is written and
// the action stays open.
func Transact[T any](ctx context.Context, inbox *Inbox, action idempotent.Action, result T, parts ...types.TransactWriteItem) (idempotent.Outcome[T], error) {
	put, call, err := inbox.entry(action, result)
	if err != nil {
		return idempotent.Outcome[T]{}, err
	}
	items := append([]types.TransactWriteItem{{Put: put}}, parts...)
	_, err = inbox.Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items})
	if err == nil {
		return idempotent.Outcome[T]{State: idempotent.New, Value: result}, nil
	}
	if item, found := taken(err); found {
		return outcome(item, call, result)
	}
	if lost := Lost(err, action.Fence); lost != err { //nolint:errorlint // the same error, not one of its kind
		return idempotent.Outcome[T]{}, lost
	}
	return idempotent.Outcome[T]{}, fmt.Errorf("transact %s: %w", action.Key, err)
}

// taken is the action's item in the answer to a transaction that it canceled.
func taken(err error) (map[string]types.AttributeValue, bool) {
	var canceled *types.TransactionCanceledException
	if !errors.As(err, &canceled) || len(canceled.CancellationReasons) == 0 {
		return nil, false
	}
	first := canceled.CancellationReasons[0]
	return first.Item, aws.ToString(first.Code) == "ConditionalCheckFailed"
}

// entry is the put of an action, and the call that it carries.
func (i *Inbox) entry(action idempotent.Action, result any) (*types.Put, string, error) {
	if err := action.Check(); err != nil {
		return nil, "", err
	}
	stored, err := encode(result)
	if err != nil {
		return nil, "", err
	}
	call := callOf(action.Fence)
	item := i.keyOf(action)
	item[resultAttribute], item[callAttribute], item[FenceAttribute] = stored, text(call), text(string(action.Fence))
	if expires, ok := i.expires(action); ok {
		item[i.expiresAt()] = expires
	}
	return &types.Put{TableName: &i.Table, Item: item, ConditionExpression: aws.String("attribute_not_exists(#belfry_key)"),
		ExpressionAttributeNames:            map[string]string{"#belfry_key": i.key()},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}, call, nil
}

// keyOf is the whole key of the action's item.
func (i *Inbox) keyOf(action idempotent.Action) map[string]types.AttributeValue {
	key := map[string]types.AttributeValue{i.key(): text(action.Key)}
	maps.Copy(key, i.Sort)
	return key
}

func (i *Inbox) key() string       { return cmp.Or(i.Key, "pk") }
func (i *Inbox) expiresAt() string { return cmp.Or(i.ExpiresAt, "expires_at") }

func (i *Inbox) expires(action idempotent.Action) (types.AttributeValue, bool) {
	if i.Keep <= 0 || action.Deadline.IsZero() {
		return nil, false
	}
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(action.Deadline.Add(i.Keep).Unix(), 10)}, true
}

func encode(result any) (types.AttributeValue, error) {
	stored, err := json.Marshal(result)
	if err != nil {
		return nil, worker.Permanent(fmt.Errorf("encode the result: %w", err))
	}
	return text(string(stored)), nil
}

// outcome reads what stood in the way of an entry; our own call is what we stored.
func outcome[T any](item map[string]types.AttributeValue, call string, mine T) (idempotent.Outcome[T], error) {
	if by, _ := item[callAttribute].(*types.AttributeValueMemberS); by != nil && by.Value == call {
		return idempotent.Outcome[T]{State: idempotent.New, Value: mine}, nil
	}
	return existing[T](item)
}

func existing[T any](item map[string]types.AttributeValue) (idempotent.Outcome[T], error) {
	stored, _ := item[resultAttribute].(*types.AttributeValueMemberS)
	if stored == nil {
		return idempotent.Outcome[T]{State: idempotent.Unfinished}, nil
	}
	o := idempotent.Outcome[T]{State: idempotent.Existing}
	if err := json.Unmarshal([]byte(stored.Value), &o.Value); err != nil {
		return idempotent.Outcome[T]{}, worker.Permanent(fmt.Errorf("read what an earlier attempt has stored: %w", err))
	}
	return o, nil
}
