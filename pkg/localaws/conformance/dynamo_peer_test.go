package conformance_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

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
	if peer := os.Getenv("BELFRY_CONFORMANCE_PEER"); peer != "" && peer != "moto" {
		exceptions = nil
	}
	config := aws.Config{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
		BaseEndpoint: aws.String(endpoint),
		HTTPClient:   &http.Client{Timeout: 30 * time.Second},
	}
	run := time.Now().UnixNano()
	n := 0
	conformance.Run(t, conformance.DynamoDBCases(), exceptions, func(t *testing.T, body func(context.Context, *testing.T, conformance.Env)) {
		n++
		body(t.Context(), t, dynamoEnv(config, fmt.Sprintf("c%x-%d-", run, n)))
	})
}
