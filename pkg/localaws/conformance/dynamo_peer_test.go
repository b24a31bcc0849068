package conformance_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/localaws/conformance"
)

// TestDynamoDBOnPeer runs the cases on the endpoint that
// BELFRY_CONFORMANCE_ENDPOINT names; `make conformance` sets it. The
// exceptions are moto_server's unless BELFRY_CONFORMANCE_PEER names another
// peer, which has none.
func TestDynamoDBOnPeer(t *testing.T) {
	endpoint := os.Getenv("BELFRY_CONFORMANCE_ENDPOINT")
	if endpoint == "" {
		t.Log("no peer: BELFRY_CONFORMANCE_ENDPOINT is not set")
		return
	}
	exceptions := conformance.MotoDynamoDBExceptions()
	if named := os.Getenv("BELFRY_CONFORMANCE_PEER"); named != "" && named != "moto" {
		exceptions = nil
	}
	config := peer(endpoint)
	run := time.Now().UnixNano()
	n := 0
	conformance.Run(t, conformance.DynamoDBCases(), exceptions, func(t *testing.T, body func(context.Context, *testing.T, conformance.Env)) {
		n++
		body(t.Context(), t, dynamoEnv(config, fmt.Sprintf("c%x-%d-", run, n)))
	})
}
