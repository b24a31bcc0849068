package parts

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambdaeventsources"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"
)

// Feed says how a queue invokes a function.
type Feed struct {
	Batch   int
	Most    int      // invocations at a time; zero = as many as pollers make
	Pollers *Pollers // provisioned ones, in place of Most
	Off     bool     // nothing is taken until it is switched on
}

// Pollers are the least and the most provisioned pollers of a queue.
type Pollers struct{ Least, Most int }

// FeedFrom lets a queue invoke the function, which answers message by message
// what stays in the queue.
func (f Function) FeedFrom(q awssqs.IQueue, feed Feed) {
	// Said either way: an update that leaves it unsaid leaves it as it is.
	props := &awslambdaeventsources.SqsEventSourceProps{BatchSize: jsii.Number(feed.Batch), ReportBatchItemFailures: jsii.Bool(true), Enabled: jsii.Bool(!feed.Off)}
	if feed.Pollers != nil {
		props.ProvisionedPollerConfig = &awslambda.ProvisionedPollerConfig{MinimumPollers: jsii.Number(feed.Pollers.Least), MaximumPollers: jsii.Number(feed.Pollers.Most)}
	} else if feed.Most > 0 {
		props.MaxConcurrency = jsii.Number(feed.Most)
	}
	f.AddEventSource(awslambdaeventsources.NewSqsEventSource(q, props))
}

// FeedFromStream lets the changes of a table invoke the function. A record that
// cannot be taken is tried for an hour, alone in the end, then told to failures;
// the lists that it feeds are a convenience, and a shard must not stand still.
func (f Function) FeedFromStream(table awsdynamodb.ITable, failures awssqs.IQueue) {
	f.AddEventSource(awslambdaeventsources.NewDynamoEventSource(table, &awslambdaeventsources.DynamoEventSourceProps{
		StartingPosition: awslambda.StartingPosition_TRIM_HORIZON, BatchSize: jsii.Number(500), MaxBatchingWindow: seconds(5), ParallelizationFactor: jsii.Number(2),
		ReportBatchItemFailures: jsii.Bool(true), BisectBatchOnError: jsii.Bool(true), RetryAttempts: jsii.Number(100), MaxRecordAge: minutes(60),
		OnFailure: awslambdaeventsources.NewSqsDlq(failures),
	}))
}

// ArchiveFeed says how a table's stream invokes the archive.
type ArchiveFeed struct {
	Window   int // seconds for which changes are gathered, so that objects are few
	Failures awssqs.IQueue
}

// giveUp is when a part of a stream is told to the failures instead of being
// tried again: the stream keeps it for as long again, for a person to fetch.
const giveUp = 12 * 60 // minutes

// FeedArchive lets the changes of a table that the filter passes invoke the
// function, as many at a time as an invocation can hold. Nothing is given up
// early: a shard stands still meanwhile, and nobody but the archive waits for it.
// Only what makes the function crash is cut in halves.
func (f Function) FeedArchive(table awsdynamodb.ITable, feed ArchiveFeed, filter map[string]any) {
	f.AddEventSource(awslambdaeventsources.NewDynamoEventSource(table, &awslambdaeventsources.DynamoEventSourceProps{
		StartingPosition: awslambda.StartingPosition_TRIM_HORIZON, BatchSize: jsii.Number(10000), MaxBatchingWindow: seconds(feed.Window),
		ReportBatchItemFailures: jsii.Bool(true), BisectBatchOnError: jsii.Bool(true), MaxRecordAge: minutes(giveUp),
		OnFailure: awslambdaeventsources.NewSqsDlq(feed.Failures), Filters: &[]*map[string]any{awslambda.FilterCriteria_Filter(&filter)},
	}))
}
