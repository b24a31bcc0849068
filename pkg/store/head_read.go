package store

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Head reads a job's head strongly; nil when the job was never made.
func (s *Store) Head(ctx context.Context, ref job.Ref) (*job.Head, error) {
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(s.tables.Jobs), Key: key(ref.String(), headKey),
		ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: s.capacity()})
	if err != nil {
		return nil, fault("read the job", err)
	}
	s.meter("head", out.ConsumedCapacity)
	if len(out.Item) == 0 {
		return nil, nil
	}
	return decodeHead(out.Item)
}

// batchGet is the most keys of one BatchGetItem.
const batchGet = 100

// Heads reads many heads, at most 100 a call, as an eventually consistent
// snapshot: a stale head is like a slow scanner, and every write that is
// decided on it is fenced. Unknown jobs are left out.
func (s *Store) Heads(ctx context.Context, refs []job.Ref) ([]*job.Head, error) {
	var heads []*job.Head
	for start := 0; start < len(refs); start += batchGet {
		keys := make([]item, 0, batchGet)
		for _, ref := range refs[start:min(start+batchGet, len(refs))] {
			keys = append(keys, key(ref.String(), headKey))
		}
		err := s.batch(ctx, "heads", s.tables.Jobs, keys, false, func(stored item) error {
			head, err := decodeHead(stored)
			if head != nil {
				heads = append(heads, head)
			}
			_ = err // a head that does not decode is broken by itself; its schedule fails to compile and disables that job alone
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return heads, nil
}

// fruitless is how many answers in a row may process nothing.
const fruitless = 3

// batch reads keys of one table until none is left unprocessed. A throttled
// table answers a batch with success and every key unprocessed: the caller is
// told after a few of these, instead of asking on without a pause.
func (s *Store) batch(ctx context.Context, operation, table string, keys []item, strong bool, each func(item) error) error {
	for idle := 0; len(keys) > 0; {
		out, err := s.db.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{ReturnConsumedCapacity: s.capacity(),
			RequestItems: map[string]types.KeysAndAttributes{table: {Keys: keys, ConsistentRead: aws.Bool(strong)}}})
		if err != nil {
			return fault("read "+operation, err)
		}
		s.meterAll(operation, out.ConsumedCapacity)
		for _, stored := range out.Responses[table] {
			if err := each(stored); err != nil {
				return err
			}
		}
		left := out.UnprocessedKeys[table].Keys
		if idle++; len(left) < len(keys) {
			idle = 0
		}
		if idle == fruitless {
			return &job.Error{Code: job.CodeThrottled, Message: "the store could not read " + operation, Fix: "try again"}
		}
		keys = left
	}
	return nil
}

// Revision reads one immutable revision, from memory when it was read before;
// nil when it is absent. A miss is confirmed by a strong read, since a revision
// may be newer than the replica that answered.
func (s *Store) Revision(ctx context.Context, ref job.Ref, number int) (*job.Revision, error) {
	if known := s.revisions.get(ref, number); known != nil {
		return known, nil
	}
	for _, strong := range []bool{false, true} {
		out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(s.tables.Jobs), Key: key(ref.String(), revisionKey(number)),
			ConsistentRead: aws.Bool(strong), ReturnConsumedCapacity: s.capacity()})
		if err != nil {
			return nil, fault("read the revision", err)
		}
		s.meter("revision", out.ConsumedCapacity)
		if len(out.Item) == 0 {
			continue
		}
		rev, err := decodeRevision(out.Item)
		if err != nil {
			return nil, err
		}
		s.revisions.put(rev)
		return rev, nil
	}
	return nil, nil
}

// Waiting strongly reads the definition that takes over at its CarryUntil; nil
// when none was ever written. Whether it still counts is the head's SwitchAt.
func (s *Store) Waiting(ctx context.Context, ref job.Ref) (*job.Revision, error) {
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(s.tables.Jobs), Key: key(ref.String(), waitingKey),
		ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: s.capacity()})
	if err != nil {
		return nil, fault("read the definition that waits", err)
	}
	s.meter("waiting", out.ConsumedCapacity)
	if len(out.Item) == 0 {
		return nil, nil
	}
	return decodeRevision(out.Item)
}
