//go:build conformance

package conformance_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/localaws/conformance"
)

func TestMotoDynamoDB(t *testing.T) {
	runPeer(t, startMoto(t), conformance.MotoDynamoDBExceptions())
}

// TestEndpointDynamoDB runs the cases on the endpoint that
// BELFRY_CONFORMANCE_ENDPOINT names, such as a real account's or another
// emulator's, without exceptions.
func TestEndpointDynamoDB(t *testing.T) {
	endpoint := os.Getenv("BELFRY_CONFORMANCE_ENDPOINT")
	if endpoint == "" {
		return
	}
	runPeer(t, endpoint, nil)
}

func runPeer(t *testing.T, endpoint string, exceptions conformance.Exceptions) {
	t.Helper()
	config := motoConfig(endpoint)
	n := 0
	conformance.Run(t, conformance.DynamoDBCases(), exceptions, func(t *testing.T, run func(context.Context, *testing.T, conformance.Env)) {
		n++
		run(t.Context(), t, dynamoEnv(config, fmt.Sprintf("c%d-", n)))
	})
}
