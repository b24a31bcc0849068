package wire

import (
	"context"
	"fmt"
)

// Service answers the operations of one AWS service.
type Service interface {
	// ServeOperation gets the bare operation name ("PutItem") and the JSON
	// body; it returns the JSON body of the answer or a *Fault. Any other error
	// is written as an internal fault.
	ServeOperation(ctx context.Context, operation string, body []byte) ([]byte, error)
}

// Fault is an error as the service would write it on the wire.
type Fault struct {
	Status  int            // HTTP status: 400 for the caller's faults, 500 for ours
	Code    string         // error name without namespace, such as "ConditionalCheckFailedException"
	Prefix  string         // namespace before '#', such as "com.amazonaws.dynamodb.v20120810"
	Message string         // text for people
	Query   string         // legacy query error code and type for SQS, such as "AWS.SimpleQueueService.NonExistentQueue;Sender"
	Extra   map[string]any // further members of the error shape, such as Item or CancellationReasons
}

// Error renders code and message.
func (f *Fault) Error() string { return fmt.Sprintf("%s: %s", f.Code, f.Message) }
