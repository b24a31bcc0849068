package statement_test

import (
	"os"
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/internal/statement"
)

// The tables are what somebody else's migration makes: the page shows them as they are.
// What the statements do is tried in postgres and sqldb, on a server.
func TestTheDocumentsShowTheTablesAsTheyAre(t *testing.T) {
	page, err := os.ReadFile("../../../../../docs/idempotency.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```sql\n"+statement.Schema+"\n```") {
		t.Errorf("docs/idempotency.md does not show\n%s", statement.Schema)
	}
}
