package assemble

import (
	"context"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"

	"github.com/belfry-scheduler/belfry/pkg/clock"
)

// Sampled lets every answer of a client tell how far the machine's clock is off.
// It stands behind the SDK's retries, so that each try is a sample of its own.
func Sampled(skew *clock.Skew, local Clock) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Finalize.Add(middleware.FinalizeMiddlewareFunc("BelfryClockSkew",
			func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
				sent := local.Now()
				out, metadata, err := next.HandleFinalize(ctx, in)
				if said, known := awsmiddleware.GetServerTime(metadata); known {
					skew.Sample(sent, local.Now(), said)
				}
				return out, metadata, err
			}), middleware.After)
	}
}
