package dynamo

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
)

// Begin notes that an action is about to be done outside, where no transaction
// reaches. Of New the caller does it and calls Finish. Of Existing it
// returns the Value. Of Unfinished an earlier attempt, or an earlier call of
// this one, began and nobody knows how it ended: the caller asks the outside
// first, then does it or not, and calls Finish.
//
// Requires: no result, and no newer attempt that began. Writes: who began first and who last.
// Loses when: there is a result: Existing. When a newer attempt began:
// *idempotent.StaleError, and the caller does nothing at the outside.
func Begin[T any](ctx context.Context, inbox *Inbox, action idempotent.Action) (idempotent.Outcome[T], error) {
	if err := action.Check(); err != nil {
		return idempotent.Outcome[T]{}, err
	}
	call := callOf(action.Fence)
	in := inbox.update(action, "SET #belfry_by = if_not_exists(#belfry_by, :belfry_call)", "attribute_not_exists(#belfry_result)")
	in.ExpressionAttributeNames["#belfry_by"] = callAttribute
	in.ExpressionAttributeValues[":belfry_call"] = text(call)
	if expires, ok := inbox.expires(action); ok {
		*in.UpdateExpression += ", #belfry_expires = :belfry_expires"
		in.ExpressionAttributeNames["#belfry_expires"], in.ExpressionAttributeValues[":belfry_expires"] = inbox.expiresAt(), expires
	}
	out, err := inbox.Client.UpdateItem(ctx, in)
	var failed *types.ConditionalCheckFailedException
	switch {
	case errors.As(err, &failed) && failed.Item[resultAttribute] != nil:
		return existing[T](failed.Item)
	case err != nil:
		return idempotent.Outcome[T]{}, overtaken(fmt.Errorf("begin %s: %w", action.Key, err), "action "+action.Key, action.Fence)
	}
	if by, _ := out.Attributes[callAttribute].(*types.AttributeValueMemberS); by != nil && by.Value == call {
		return idempotent.Outcome[T]{State: idempotent.New}, nil
	}
	return idempotent.Outcome[T]{State: idempotent.Unfinished}, nil
}

// Finish stores the result of an action that Begin has noted: it is done.
//
// Requires: no newer attempt that began. Writes: the result.
// Loses when: a newer attempt began or finished: *idempotent.StaleError; that one
// has asked, or will ask, what the outside knows. Finishing again under the same
// fence stores the newer result.
func Finish[T any](ctx context.Context, inbox *Inbox, action idempotent.Action, result T) error {
	if err := action.Check(); err != nil {
		return err
	}
	stored, err := encode(result)
	if err != nil {
		return err
	}
	in := inbox.update(action, "SET #belfry_result = :belfry_result", "")
	in.ExpressionAttributeValues[":belfry_result"] = stored
	if _, err := inbox.Client.UpdateItem(ctx, in); err != nil {
		return overtaken(fmt.Errorf("finish %s: %w", action.Key, err), "action "+action.Key, action.Fence)
	}
	return nil
}

// update is a fenced update of the action's item; its expressions may name the result.
func (i *Inbox) update(action idempotent.Action, set, condition string) *dynamodb.UpdateItemInput {
	in := &dynamodb.UpdateItemInput{TableName: &i.Table, Key: i.keyOf(action), UpdateExpression: aws.String(withSet(set)), ConditionExpression: &condition,
		ExpressionAttributeNames: map[string]string{"#belfry_result": resultAttribute}, ReturnValues: types.ReturnValueAllNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}
	guard(&in.ConditionExpression, &in.ExpressionAttributeNames, &in.ExpressionAttributeValues, action.Fence)
	return in
}
