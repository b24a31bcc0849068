//go:build conformance

package conformance_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/localaws/conformance"
)

// TestS3OnPeer runs the cases on the endpoint that BELFRY_CONFORMANCE_ENDPOINT
// names, which `make conformance` sets to a moto_server. BELFRY_CONFORMANCE_PEER
// names another peer, which gets no exceptions.
func TestS3OnPeer(t *testing.T) {
	endpoint := os.Getenv("BELFRY_CONFORMANCE_ENDPOINT")
	if endpoint == "" {
		t.Fatal("BELFRY_CONFORMANCE_ENDPOINT must name the peer; `make conformance` starts one")
	}
	exceptions := conformance.MotoS3Exceptions()
	if named := os.Getenv("BELFRY_CONFORMANCE_PEER"); named != "" && named != "moto" {
		exceptions = nil
	}
	client := byPath(peer(endpoint))
	run, n := time.Now().Unix(), 0
	conformance.Run(t, conformance.S3Cases(), exceptions, func(t *testing.T, body func(context.Context, *testing.T, conformance.Env)) {
		n++
		body(t.Context(), t, conformance.Env{S3: client, Prefix: fmt.Sprintf("c%x-%d-", run, n)})
	})
}
