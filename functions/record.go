package functions

import (
	"context"

	"github.com/aws/aws-lambda-go/events"

	"github.com/belfry-scheduler/belfry/pkg/record"
)

// StreamHandler is a function behind a table's stream that reports from which
// record on it has to be invoked again.
type StreamHandler = func(context.Context, events.DynamoDBEvent) (events.DynamoDBEventResponse, error)

// Record is the handler of the function behind the stream of the executions table.
func Record(i *Installation) StreamHandler {
	return (&record.Recorder{Lists: i.Store, Log: i.Log, Metrics: i.Settings.Metrics}).Handle
}
