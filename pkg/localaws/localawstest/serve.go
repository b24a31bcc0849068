package localawstest

import (
	"net/http/httptest"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/localaws"
)

// Serve serves a backend in memory on a socket until the test ends, and points the
// environment of the test, and so the SDK's configuration, to it and nowhere else.
func Serve(t *testing.T) *localaws.Backend {
	t.Helper()
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(backend)
	t.Cleanup(func() { _ = backend.Close(); server.Close() })
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": server.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "local",
		"AWS_SECRET_ACCESS_KEY": "local", "AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null"} {
		t.Setenv(name, value)
	}
	return backend
}
