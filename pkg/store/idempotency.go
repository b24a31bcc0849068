package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// rememberFor is how long a caller's idempotency key is remembered.
const rememberFor = 24 * time.Hour

// Remember ties a caller's idempotency key to the execution that it asked for,
// and returns the key that the execution has: ours, or the one that an earlier
// request with the same word was given.
//
// Requires: nothing under the word. Writes: the execution's key, for a day.
// Loses when: an earlier request was there, or our own write whose response was
// lost. Then the caller: goes on with the key that is there.
func (s *Store) Remember(ctx context.Context, ref job.Ref, word string, k job.Key, at time.Time) (job.Key, error) {
	digest := sha256.Sum256([]byte(word))
	stored := key("IDEM#"+ref.String(), hex.EncodeToString(digest[:]))
	stored["execution"] = text(k.String())
	stored[TTLAttribute] = seconds(at.Add(rememberFor))
	// The table forgets late: an entry that has expired counts as forgotten.
	out, err := s.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(s.tables.Control), Item: stored,
		ConditionExpression:                 aws.String("attribute_not_exists(pk) OR " + TTLAttribute + " < :now"),
		ExpressionAttributeValues:           item{":now": seconds(at)},
		ReturnConsumedCapacity:              s.capacity(),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld})
	if err == nil {
		s.meter("remember", out.ConsumedCapacity)
		return k, nil
	}
	var lost *types.ConditionalCheckFailedException
	if !errors.As(err, &lost) {
		return job.Key{}, fault("remember the request", err)
	}
	r := &reader{item: lost.Item}
	return job.ParseKey(r.text("execution"))
}
