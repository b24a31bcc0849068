package store

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Options of a store. The zero value is usable.
type Options struct {
	Prefix       string           // of the tables' names; empty = "belfry"
	Shards       int              // of the first layout; zero = 256
	RestoreEpoch int64            // high part of every fencing token; zero in an installation never restored
	Retention    time.Duration    // how long ended executions are kept; zero = 30 days
	Now          func() time.Time // when the shard layouts were read; nil = they are read once
	Meter        Meter            // told of every consumed capacity; nil = capacity is not asked for
}

// Meter is told what each call consumed.
type Meter func(operation string, consumed []types.ConsumedCapacity)

// Store reads and writes the three tables. It is safe for concurrent use.
type Store struct {
	db      *dynamodb.Client
	tables  Tables
	options Options

	layouts    atomic.Pointer[knownLayouts]
	layoutTurn chan struct{} // holds one while somebody reads them
	revisions  *revisionCache
	restored   atomic.Bool // the repair after the last restore is known to be done
}

// New makes a store over a client; it makes no call.
func New(db *dynamodb.Client, o Options) *Store {
	if o.Shards == 0 {
		o.Shards = 256
	}
	if o.Retention == 0 {
		o.Retention = 30 * 24 * time.Hour
	}
	return &Store{db: db, tables: TablesOf(o.Prefix), options: o, layoutTurn: make(chan struct{}, 1), revisions: newRevisionCache(10_000)}
}

// Retention tells how long ended executions are kept.
func (s *Store) Retention() time.Duration { return s.options.Retention }

// Tables tells the names of the store's tables.
func (s *Store) Tables() Tables { return s.tables }

func (s *Store) capacity() types.ReturnConsumedCapacity {
	if s.options.Meter == nil {
		return types.ReturnConsumedCapacityNone
	}
	return types.ReturnConsumedCapacityIndexes
}

func (s *Store) meter(operation string, consumed ...*types.ConsumedCapacity) {
	if s.options.Meter == nil {
		return
	}
	var told []types.ConsumedCapacity
	for _, c := range consumed {
		if c != nil {
			told = append(told, *c)
		}
	}
	s.options.Meter(operation, told)
}

func (s *Store) meterAll(operation string, consumed []types.ConsumedCapacity) {
	if s.options.Meter != nil {
		s.options.Meter(operation, consumed)
	}
}

func key(pk, sk string) item { return item{PartitionKey: text(pk), SortKey: text(sk)} }

// update is one UpdateItem with its condition. It returns the new item; when
// the condition fails, job.ErrLost and the item that is there instead (nil =
// absent).
type update struct {
	operation string
	table     string
	key       item
	set       string // the whole update expression
	condition string
	names     map[string]string
	values    item
	wantNew   bool // return the item as written
}

func (s *Store) update(ctx context.Context, u update) (item, error) {
	input := &dynamodb.UpdateItemInput{TableName: aws.String(u.table), Key: u.key, UpdateExpression: aws.String(u.set),
		ConditionExpression: aws.String(u.condition), ExpressionAttributeValues: u.values, ReturnConsumedCapacity: s.capacity(),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}
	if len(u.names) > 0 {
		input.ExpressionAttributeNames = u.names
	}
	if u.wantNew {
		input.ReturnValues = types.ReturnValueAllNew
	}
	out, err := s.db.UpdateItem(ctx, input)
	if err == nil {
		s.meter(u.operation, out.ConsumedCapacity)
		return out.Attributes, nil
	}
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		s.meter(u.operation + " (lost)")
		return failed.Item, job.ErrLost
	}
	return nil, fault(u.operation, err)
}

// fault turns an error of the SDK into one that upper rooms understand; the
// cause stays in the chain for the log.
func fault(doing string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	refusal := &job.Error{Code: job.CodeUnavailable, Message: "the store could not " + doing, Fix: "try again"}
	var api smithy.APIError
	if errors.As(err, &api) {
		switch api.ErrorCode() {
		case "ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded":
			refusal.Code = job.CodeThrottled
		case "ValidationException", "ResourceNotFoundException", "AccessDeniedException", "NotImplemented", "IdempotentParameterMismatchException":
			refusal.Code, refusal.Fix = job.CodeInternal, ""
		}
	}
	return &storeError{refusal: refusal, cause: err}
}

// storeError carries both the refusal that users may see and its cause, which
// only logs may show.
type storeError struct {
	refusal *job.Error
	cause   error
}

func (e *storeError) Error() string   { return e.refusal.Message + ": " + e.cause.Error() }
func (e *storeError) Unwrap() []error { return []error{e.refusal, e.cause} }
