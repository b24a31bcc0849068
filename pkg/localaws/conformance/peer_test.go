//go:build conformance

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
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/localaws/conformance"
)

// TestSQSOnPeer runs the cases on the endpoint that
// BELFRY_CONFORMANCE_ENDPOINT names, which `make conformance` sets to a
// moto_server. BELFRY_CONFORMANCE_PEER names another peer, which gets no
// exceptions.
func TestSQSOnPeer(t *testing.T) {
	endpoint := os.Getenv("BELFRY_CONFORMANCE_ENDPOINT")
	if endpoint == "" {
		t.Fatal("BELFRY_CONFORMANCE_ENDPOINT must name the peer; `make conformance` starts one")
	}
	exceptions := conformance.MotoSQSExceptions()
	if peer := os.Getenv("BELFRY_CONFORMANCE_PEER"); peer != "" && peer != "moto" {
		exceptions = nil
	}
	config := aws.Config{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
		BaseEndpoint: aws.String(endpoint),
		HTTPClient:   &http.Client{Timeout: 30 * time.Second},
	}
	run, n := time.Now().Unix(), 0
	conformance.Run(t, conformance.SQSCases(), exceptions, func(t *testing.T, body func(context.Context, *testing.T, conformance.Env)) {
		n++
		body(t.Context(), t, conformance.Env{SQS: sqs.NewFromConfig(config), Prefix: fmt.Sprintf("c%x-%d-", run, n)})
	})
}
