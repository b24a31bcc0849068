package lifecycle_test

import (
	"flag"
	"os"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

var update = flag.Bool("update", false, "write docs/states.md anew")

// TestThePage holds docs/states.md to the tables. Write it anew with:
// go test ./pkg/lifecycle -run TestThePage -update
func TestThePageShowsTheTables(t *testing.T) {
	const path = "../../docs/states.md"
	page := lifecycle.Page()
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(stored) != page {
		t.Error("docs/states.md is not what the tables say; look at the difference after: go test ./pkg/lifecycle -run TestThePage -update")
	}
}
