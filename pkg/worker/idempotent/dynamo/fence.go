package dynamo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
)

// FenceAttribute is where an item keeps the highest fence that has written it; a string.
const FenceAttribute = "last_fencing_token"

const (
	fenceName  = "#belfry_fence"
	fenceValue = ":belfry_fence"
	mayWrite   = "(attribute_not_exists(" + fenceName + ") OR " + fenceName + " <= " + fenceValue + ")"
)

// Client is what is needed of *dynamodb.Client.
type Client interface {
	// PutItem is the SDK's.
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	// UpdateItem is the SDK's.
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	// TransactWriteItems is the SDK's.
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Update is UpdateItem for the newest attempt.
//
// Requires: no fence at the item, or none above f; and what the caller's own
// condition says. An attempt may write again and again: its own fence is no obstacle.
// Writes: the caller's update, and f.
// Loses when: a newer attempt has written: *idempotent.StaleError. Where only the
// caller's own condition failed the SDK's error comes back as it is.
// Then the caller: returns the StaleError, its attempt is over.
func Update(ctx context.Context, client Client, in *dynamodb.UpdateItemInput, f idempotent.Fence) (*dynamodb.UpdateItemOutput, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	fenced := *in
	guard(&fenced.ConditionExpression, &fenced.ExpressionAttributeNames, &fenced.ExpressionAttributeValues, f)
	fenced.UpdateExpression = aws.String(withSet(aws.ToString(in.UpdateExpression)))
	fenced.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	out, err := client.UpdateItem(ctx, &fenced)
	return out, overtaken(err, "an item of "+aws.ToString(in.TableName), f)
}

// Put is PutItem for the newest attempt; see Update. The item that it replaces may
// have been written without a fence.
func Put(ctx context.Context, client Client, in *dynamodb.PutItemInput, f idempotent.Fence) (*dynamodb.PutItemOutput, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	fenced := *in
	guard(&fenced.ConditionExpression, &fenced.ExpressionAttributeNames, &fenced.ExpressionAttributeValues, f)
	fenced.Item = withFence(in.Item, f)
	fenced.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	out, err := client.PutItem(ctx, &fenced)
	return out, overtaken(err, "an item of "+aws.ToString(in.TableName), f)
}

// Fence is the same for one part of a transaction: a copy of it that only the
// newest attempt gets through. A Put or an Update leaves f at the item, a
// ConditionCheck only looks. A Delete is refused: a deleted item keeps no fence, so
// mark it as deleted with an Update. Lost reads what the transaction answers.
func Fence(part types.TransactWriteItem, f idempotent.Fence) (types.TransactWriteItem, error) {
	if err := f.Check(); err != nil {
		return types.TransactWriteItem{}, err
	}
	old := types.ReturnValuesOnConditionCheckFailureAllOld
	switch {
	case part.Put != nil:
		p := *part.Put
		guard(&p.ConditionExpression, &p.ExpressionAttributeNames, &p.ExpressionAttributeValues, f)
		p.Item, p.ReturnValuesOnConditionCheckFailure = withFence(p.Item, f), old
		return types.TransactWriteItem{Put: &p}, nil
	case part.Update != nil:
		u := *part.Update
		guard(&u.ConditionExpression, &u.ExpressionAttributeNames, &u.ExpressionAttributeValues, f)
		u.UpdateExpression, u.ReturnValuesOnConditionCheckFailure = aws.String(withSet(aws.ToString(u.UpdateExpression))), old
		return types.TransactWriteItem{Update: &u}, nil
	case part.ConditionCheck != nil:
		c := *part.ConditionCheck
		guard(&c.ConditionExpression, &c.ExpressionAttributeNames, &c.ExpressionAttributeValues, f)
		c.ReturnValuesOnConditionCheckFailure = old
		return types.TransactWriteItem{ConditionCheck: &c}, nil
	}
	return types.TransactWriteItem{}, &job.Error{Code: job.CodeNotSupported, Field: "transaction item", Bound: "Put, Update or ConditionCheck",
		Message: "a delete cannot be fenced, since nothing would be left to keep the fence", Fix: "mark the item as deleted with an Update, and let its time to live remove it"}
}

// Lost reads the error of a transaction with parts made by Fence: a
// *idempotent.StaleError when a newer attempt has written one of them, else err itself.
func Lost(err error, f idempotent.Fence) error {
	var canceled *types.TransactionCanceledException
	if !errors.As(err, &canceled) {
		return err
	}
	for i, reason := range canceled.CancellationReasons {
		if holder := fenceIn(reason.Item); holder > f {
			return &idempotent.StaleError{What: fmt.Sprintf("item %d of the transaction", i+1), Fence: f, Holder: holder}
		}
	}
	return err
}

// overtaken tells a lost fence from a condition of the caller's own that failed.
func overtaken(err error, what string, f idempotent.Fence) error {
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		if holder := fenceIn(failed.Item); holder > f {
			return &idempotent.StaleError{What: what, Fence: f, Holder: holder}
		}
	}
	return err
}

func fenceIn(item map[string]types.AttributeValue) idempotent.Fence {
	word, _ := item[FenceAttribute].(*types.AttributeValueMemberS)
	if word == nil {
		return ""
	}
	return idempotent.Fence(word.Value)
}

// guard adds the fence to a condition, beside what the caller has put there.
func guard(condition **string, names *map[string]string, values *map[string]types.AttributeValue, f idempotent.Fence) {
	whole := mayWrite
	if own := aws.ToString(*condition); own != "" {
		whole = "(" + own + ") AND " + mayWrite
	}
	*condition = &whole
	if *names = maps.Clone(*names); *names == nil {
		*names = map[string]string{}
	}
	if *values = maps.Clone(*values); *values == nil {
		*values = map[string]types.AttributeValue{}
	}
	(*names)[fenceName] = FenceAttribute
	(*values)[fenceValue] = text(string(f))
}

func withFence(item map[string]types.AttributeValue, f idempotent.Fence) map[string]types.AttributeValue {
	fenced := maps.Clone(item)
	if fenced == nil {
		fenced = map[string]types.AttributeValue{}
	}
	fenced[FenceAttribute] = text(string(f))
	return fenced
}

// setClause is the keyword, which is reserved: no name without # can be it.
var setClause = regexp.MustCompile(`(?i)(^|\s)(SET)(\s)`)

// withSet puts the fence first in the SET clause of an update expression, which may
// have one at most.
func withSet(expression string) string {
	const assignment = "SET " + fenceName + " = " + fenceValue
	at := setClause.FindStringSubmatchIndex(expression)
	switch {
	case expression == "":
		return assignment
	case at == nil:
		return assignment + " " + expression
	}
	return expression[:at[4]] + assignment + "," + expression[at[5]:]
}

func text(word string) types.AttributeValue { return &types.AttributeValueMemberS{Value: word} }
