package platform

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// Streams is what a StreamPoller calls; *dynamodbstreams.Client satisfies it.
type Streams interface {
	// DescribeStream is asked for new shards now and then.
	DescribeStream(context.Context, *dynamodbstreams.DescribeStreamInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error)
	// GetShardIterator begins a shard, or begins it again.
	GetShardIterator(context.Context, *dynamodbstreams.GetShardIteratorInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error)
	// GetRecords is called all the time, for every shard.
	GetRecords(context.Context, *dynamodbstreams.GetRecordsInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error)
}

// Checkpoints remember how far each shard has been dealt with, as Lambda does
// for its mappings.
type Checkpoints interface {
	// Load returns the last sequence number dealt with, or "" when there is none.
	Load(ctx context.Context, shard string) (string, error)
	// Save replaces the sequence number that Load returns.
	Save(ctx context.Context, shard, sequence string) error
}

// StreamPoller invokes a function with the records of a table's stream, as
// Lambda's event source mapping does: one batch a shard at a time, in order,
// and a batch that fails holds its shard up until it succeeds or is given up.
type StreamPoller struct {
	Runtime
	Function func(context.Context, events.DynamoDBEvent) (events.DynamoDBEventResponse, error)
	Client   Streams
	Stream   string // ARN

	BatchSize int           // records an invocation, 1 to 1 000; 0 = 100
	Latest    bool          // begin after what is there now; otherwise with the oldest record
	Interval  time.Duration // between looks at a shard that has nothing new; 0 = 250 ms, as Lambda

	PartialFailures bool          // ReportBatchItemFailures: go on from the first record that the function reports
	Bisect          bool          // halve a batch that failed without such a report
	MaxRetries      int           // further invocations for a batch that failed; 0 = none, below 0 = without end
	MaxAge          time.Duration // records older than this are given up instead of tried again; 0 = never

	OnFailure   func(GivenUp) // gets what was given up; nil = it is dropped
	Checkpoints Checkpoints   // nil = in memory: a new Run begins anew
	OnError     func(error)   // told of failed calls and failed invocations; nil = nobody
}

// GivenUp says which records were never dealt with, as Lambda tells a
// failure destination: where they are, not what is in them.
type GivenUp struct {
	Stream, Shard string
	First, Last   string // sequence numbers
	Records       int
	Invocations   int   // made in vain
	Err           error // the last one's
}

// Run polls until ctx ends, then waits for what is in hand. It returns an
// error only when a setting is out of bounds or the stream is not there.
func (p *StreamPoller) Run(ctx context.Context) error {
	if p.BatchSize < 0 || p.BatchSize > 1000 {
		return fmt.Errorf("batch size %d is not from 1 to 1000", p.BatchSize)
	}
	reader := &streamReader{StreamPoller: p, runner: newRunner(ctx, p.Runtime), shards: make(map[string]*shardReader), kick: make(chan struct{}, 1)}
	if reader.Checkpoints == nil {
		copied := *p
		copied.Checkpoints = new(inMemory)
		reader.StreamPoller = &copied
	}
	defer reader.runner.wait()
	defer reader.readers.Wait()
	for first := true; ; first = false {
		err := reader.discover(ctx, first)
		var gone *types.ResourceNotFoundException
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.As(err, &gone):
			return fmt.Errorf("look at stream %s: %w", p.Stream, err)
		case err != nil:
			reader.report(fmt.Errorf("look at stream %s: %w", p.Stream, err))
		}
		reader.untilDiscovery(ctx)
	}
}

// discoveryInterval is how often new shards are looked for when none has come
// to its end meanwhile.
const discoveryInterval = time.Minute

// streamReader is a StreamPoller at work.
type streamReader struct {
	*StreamPoller
	runner  *runner
	readers sync.WaitGroup
	shards  map[string]*shardReader
	kick    chan struct{} // a shard has come to its end, so it may have children
}

// shardReader is the one goroutine that reads a shard.
type shardReader struct {
	id       string
	parent   *shardReader // nil when there is none that we read
	latest   bool
	finished chan struct{}
}

func (r *streamReader) untilDiscovery(ctx context.Context) {
	timer := time.NewTimer(discoveryInterval)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.kick:
	case <-ctx.Done():
	}
}

// discover starts a reader for every shard that has none.
func (r *streamReader) discover(ctx context.Context, first bool) error {
	in := &dynamodbstreams.DescribeStreamInput{StreamArn: &r.Stream}
	var fresh []*shardReader
	parents := make(map[string]string)
	for {
		out, err := r.Client.DescribeStream(ctx, in)
		if err != nil {
			return err
		}
		for _, shard := range out.StreamDescription.Shards {
			id := aws.ToString(shard.ShardId)
			if r.shards[id] == nil {
				r.shards[id] = &shardReader{id: id, latest: first && r.Latest, finished: make(chan struct{})}
				fresh = append(fresh, r.shards[id])
				parents[id] = aws.ToString(shard.ParentShardId)
			}
		}
		if in.ExclusiveStartShardId = out.StreamDescription.LastEvaluatedShardId; in.ExclusiveStartShardId == nil {
			break
		}
	}
	for _, shard := range fresh {
		shard.parent = r.shards[parents[shard.id]]
		r.readers.Go(func() { r.start(ctx, shard) })
	}
	return nil
}

// start reads a shard once its parent is finished, so that the changes of one
// item stay in order.
func (r *streamReader) start(ctx context.Context, shard *shardReader) {
	defer close(shard.finished)
	if shard.parent != nil {
		select {
		case <-shard.parent.finished:
		case <-ctx.Done():
			return
		}
	}
	r.read(ctx, shard)
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

func (r *streamReader) report(err error) {
	if r.OnError != nil {
		r.OnError(err)
	}
}

// inMemory is the Checkpoints of a poller that has none.
type inMemory struct{ done sync.Map }

func (m *inMemory) Load(_ context.Context, shard string) (string, error) {
	sequence, _ := m.done.Load(shard)
	text, _ := sequence.(string)
	return text, nil
}

func (m *inMemory) Save(_ context.Context, shard, sequence string) error {
	m.done.Store(shard, sequence)
	return nil
}
