package httpapi

import (
	"bytes"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/control"
)

var update = flag.Bool("update", false, "write docs/openapi.yaml anew")

// The description in the docs is what the handlers serve. After a change of the
// API: go test ./pkg/httpapi -run TestDescription -update
func TestDescriptionInTheDocsIsWhatTheHandlersServe(t *testing.T) {
	served := httptest.NewRecorder()
	New(&control.Service{}, Options{Version: "1"}).ServeHTTP(served, httptest.NewRequest(http.MethodGet, "/v1/openapi.yaml", nil))
	if served.Code != http.StatusOK {
		t.Fatalf("the description is answered with %d", served.Code)
	}
	path := filepath.Join("..", "..", "docs", "openapi.yaml")
	if *update {
		if err := os.WriteFile(path, served.Body.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(stored, served.Body.Bytes()) {
		t.Error("docs/openapi.yaml is not what the handlers serve; look at the difference after: go test ./pkg/httpapi -run TestDescription -update")
	}
}
