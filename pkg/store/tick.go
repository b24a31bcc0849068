package store

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// WinTick decides which of several ticks of one minute fans out.
//
// Requires: nobody won the minute. Writes: who did (token). Loses when:
// somebody did; with our token it is our own write whose response was lost.
// Then the caller: ends.
func (s *Store) WinTick(ctx context.Context, minute time.Time, token string) (bool, error) {
	guard := key("TICK#"+minute.UTC().Format("20060102T1504Z"), single)
	guard["token"] = text(token)
	guard[TTLAttribute] = seconds(minute.Add(24 * time.Hour))
	out, err := s.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(s.tables.Control), Item: guard,
		ConditionExpression: aws.String("attribute_not_exists(pk)"), ReturnConsumedCapacity: s.capacity(),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld})
	if err == nil {
		s.meter("tick", out.ConsumedCapacity)
		return true, nil
	}
	var lost *types.ConditionalCheckFailedException
	if errors.As(err, &lost) {
		r := &reader{item: lost.Item}
		return r.text("token") == token, nil
	}
	return false, fault("win the tick", err)
}
