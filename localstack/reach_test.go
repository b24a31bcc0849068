//go:build stack

package localstack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/belfry-scheduler/belfry/pkg/client"
)

// told is a variable that ./stack sets.
func told(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set: this test is run by `make stack-test`", name)
	}
	return value
}

// deployedAPI is a client of the deployed API, signing as IAM wants it.
func deployedAPI(t *testing.T) *client.Client {
	t.Helper()
	endpoint, err := url.Parse(told(t, "BELFRY_STACK_ENDPOINT"))
	if err != nil {
		t.Fatal(err)
	}
	keys := aws.Credentials{AccessKeyID: told(t, "AWS_ACCESS_KEY_ID"), SecretAccessKey: told(t, "AWS_SECRET_ACCESS_KEY")}
	api, err := client.New(client.Options{
		BaseURL: told(t, "BELFRY_STACK_URL"),
		HTTP: &http.Client{Timeout: 40 * time.Second, Transport: signing{keys: keys, region: told(t, "AWS_REGION"), signer: v4.NewSigner(),
			under: &http.Transport{DialContext: dialing(endpoint.Host)}}},
		Wait: func(ctx context.Context, d time.Duration) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(d):
				return nil
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// dialing reaches the emulator under the names that it gives to APIs, which no
// resolver knows everywhere.
func dialing(emulator string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if host, _, err := net.SplitHostPort(address); err == nil && strings.HasSuffix(host, ".localhost") {
			address = emulator
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
}

// signing signs each request for API Gateway with signature version 4.
type signing struct {
	keys   aws.Credentials
	region string
	signer *v4.Signer
	under  http.RoundTripper
}

// RoundTrip signs a copy of the request and sends it.
func (s signing) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body.Close()
	}
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	sum := sha256.Sum256(body)
	if err := s.signer.SignHTTP(r.Context(), s.keys, r, hex.EncodeToString(sum[:]), "execute-api", s.region, time.Now()); err != nil {
		return nil, err
	}
	return s.under.RoundTrip(r)
}
