package functions

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/belfry-scheduler/belfry/pkg/observe"
)

// traced has spans linked to X-Ray's trace of the invocation, and sends them
// before the platform freezes the process. Without traces it is the handler
// itself.
func (i *Installation) traced(handler lambda.Handler) lambda.Handler {
	if i.Traces == nil {
		return handler
	}
	return flushing{handler: handler, installation: i}
}

type flushing struct {
	handler      lambda.Handler
	installation *Installation
}

// invocationTrace is the key under which the platform's runtime puts the header.
const invocationTrace = "x-amzn-trace-id"

// Invoke implements lambda.Handler. The answer is the handler's, whatever becomes
// of the spans.
func (f flushing) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	header, _ := ctx.Value(invocationTrace).(string)
	answer, err := f.handler.Invoke(observe.WithCause(ctx, header), payload)
	f.installation.Traces.Flush(context.WithoutCancel(ctx))
	return answer, err
}
