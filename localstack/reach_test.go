//go:build stack

package localstack

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/signing"
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
	keys := credentials.NewStaticCredentialsProvider(told(t, "AWS_ACCESS_KEY_ID"), told(t, "AWS_SECRET_ACCESS_KEY"), "")
	api, err := client.New(client.Options{
		BaseURL: deployedURL(t),
		HTTP: &http.Client{Timeout: 40 * time.Second, Transport: &signing.Transport{Service: signing.APIGateway, Region: told(t, "AWS_REGION"), Credentials: keys,
			Now: time.Now, Under: &http.Transport{DialContext: dialing(endpoint.Host)}}},
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

// deployedURL is the address of the API as the last deployment told it.
func deployedURL(t *testing.T) string {
	t.Helper()
	var outputs map[string]map[string]string
	if err := json.Unmarshal([]byte(read(t, filepath.Join(told(t, "BELFRY_STACK_ROOM"), "outputs.json"))), &outputs); err != nil {
		t.Fatal(err)
	}
	return outputs["belfry-api"]["Url"]
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
