package walls

import (
	"fmt"
	"strings"
)

const module = "github.com/belfry-scheduler/belfry"

// rooms stand empty in the scratch module, so that a violation has something to import.
var rooms = []string{
	"pkg/job", "pkg/schedule", "pkg/lifecycle", "pkg/control", "pkg/trigger", "pkg/dispatch",
	"pkg/execute", "pkg/worker", "pkg/worker/workertest",
	"pkg/worker/idempotent", "pkg/worker/idempotent/dynamo", "pkg/worker/idempotent/object", "pkg/worker/idempotent/postgres", "pkg/worker/idempotent/sqldb",
	"pkg/target", "pkg/target/cloud", "pkg/record", "pkg/archive", "pkg/store", "pkg/queue",
	"pkg/httpapi", "pkg/console", "pkg/client", "pkg/observe", "pkg/clock", "pkg/localaws",
	"pkg/sim", "pkg/signing", "pkg/restore", "pkg/sweep",
}

// violation is one small file and what the linter must say of it.
type violation struct {
	path   string
	source string
	linter string // empty: the file keeps the rules
	text   string // part of the message
}

// forbidden lists imports that a wall refuses: room, what it must not import,
// and words from the reason that is shown.
var forbidden = []struct{ room, imports, reason string }{
	{"pkg/job", "pkg/lifecycle", "job holds the nouns"},
	{"pkg/job", "github.com/aws/aws-sdk-go-v2/aws", "AWS types end in store"},
	{"pkg/job", "os", "pure rooms and planes decide"},
	{"pkg/schedule", "pkg/lifecycle", "schedule is pure"},
	{"pkg/schedule", "net/http", "pure rooms and planes decide"},
	{"pkg/lifecycle", "pkg/schedule", "state machine as a table"},
	{"pkg/control", "pkg/trigger", "planes never import each other"},
	{"pkg/control", "pkg/store", "planes never import each other"},
	{"pkg/trigger", "pkg/execute", "planes never import each other"},
	{"pkg/trigger", "pkg/queue", "planes never import each other"},
	{"pkg/dispatch", "pkg/control", "planes never import each other"},
	{"pkg/execute", "pkg/dispatch", "planes never import each other"},
	{"pkg/execute", "pkg/store", "planes never import each other"},
	{"pkg/execute", "github.com/aws/aws-sdk-go-v2/aws", "AWS types end in store"},
	{"pkg/trigger", "github.com/aws/smithy-go", "AWS types end in store"},
	{"pkg/restore", "pkg/store", "planes never import each other"},
	{"pkg/restore", "github.com/aws/smithy-go", "AWS types end in store"},
	{"pkg/restore", "os", "pure rooms and planes decide"},
	{"pkg/sweep", "pkg/trigger", "planes never import each other"},
	{"pkg/sweep", "github.com/aws/smithy-go", "AWS types end in store"},
	{"pkg/sweep", "os", "pure rooms and planes decide"},
	{"pkg/clock", "pkg/store", "used by every plane"},
	{"pkg/observe", "pkg/control", "used by every plane"},
	{"pkg/store", "pkg/execute", "carry out what a plane decided"},
	{"pkg/queue", "pkg/trigger", "carry out what a plane decided"},
	{"pkg/worker", "pkg/control", "what handler authors import"},
	{"pkg/worker", "pkg/localaws", "what handler authors import"},
	{"pkg/worker", "github.com/jackc/pgx/v5", "for handlers that use it"},
	{"pkg/worker/idempotent", "github.com/aws/aws-sdk-go-v2/aws", "links the tool that it uses"},
	{"pkg/worker/idempotent", "database/sql", "links the tool that it uses"},
	{"pkg/worker/idempotent", "pkg/worker/idempotent/sqldb", "links the tool that it uses"},
	{"pkg/worker/idempotent/dynamo", "github.com/aws/aws-sdk-go-v2/service/s3", "links the tool that it uses"},
	{"pkg/worker/idempotent/dynamo", "database/sql", "links the tool that it uses"},
	{"pkg/worker/idempotent/object", "github.com/aws/aws-sdk-go-v2/service/dynamodb", "links the tool that it uses"},
	{"pkg/worker/idempotent/sqldb", "github.com/jackc/pgx/v5", "for handlers that use it"},
	{"pkg/worker/idempotent/sqldb", "github.com/aws/aws-sdk-go-v2/aws", "links the tool that it uses"},
	{"pkg/worker/idempotent/postgres", "github.com/aws/aws-sdk-go-v2/aws", "links the tool that it uses"},
	{"pkg/worker/idempotent/postgres", "pkg/localaws", "what handler authors import"},
	{"pkg/record", "pkg/trigger", "writes lists and history"},
	{"pkg/archive", "pkg/trigger", "only adds to what is kept"},
	{"pkg/archive", "github.com/aws/aws-sdk-go-v2/service/s3", "through pkg/archive/bucket"},
	{"pkg/target", "pkg/store", "a handler like anyone else's"},
	{"pkg/target/cloud", "pkg/store", "a handler like anyone else's"},
	{"pkg/target", "github.com/aws/aws-sdk-go-v2/service/lambda", "only what runs executions carries them"},
	{"functions", "pkg/target/cloud", "only what runs executions carries them"},
	{"pkg/httpapi", "pkg/store", "the fronts translate and call control"},
	{"pkg/client", "pkg/execute", "the fronts translate and call control"},
	{"pkg/execute", "go.opentelemetry.io/otel/trace", "spans are made through pkg/observe"},
	{"pkg/observe", "go.opentelemetry.io/otel/sdk/trace", "the API of spans"},
	{"pkg/signing", "pkg/client", "signing knows requests and credentials"},
	{"pkg/console", "github.com/aws/aws-sdk-go-v2/aws", "AWS types end in store"},
	{"pkg/localaws", "pkg/job", "stands in for the service"},
	{"pkg/localaws/sqs", "github.com/aws/aws-sdk-go-v2/service/sqs/types", "reads the wire itself"},
	{"pkg/control", "github.com/gorhill/cronexpr", "the field engine panics"},
	{"pkg/store", "go.etcd.io/bbolt", "the only store of the product"},
	{"pkg/queue", "github.com/tidwall/btree", "the only store of the product"},
	{"pkg/httpapi", "github.com/spf13/cobra", "flags and help belong to cmd"},
	{"cmd/belfry", "log", "log through log/slog"},
	{"pkg/store", "math/rand", "math/rand/v2"},
}

// permitted lists imports that must stay possible.
var permitted = []struct{ room, imports string }{
	{"pkg/schedule", "pkg/job"},
	{"pkg/schedule", "github.com/gorhill/cronexpr"},
	{"pkg/lifecycle", "pkg/job"},
	{"pkg/execute", "pkg/lifecycle"},
	{"pkg/execute", "pkg/clock"},
	{"pkg/store", "pkg/lifecycle"},
	{"pkg/store", "github.com/aws/aws-sdk-go-v2/aws"},
	{"pkg/worker", "pkg/execute"},
	{"pkg/worker", "pkg/queue"},
	{"pkg/worker/workertest", "pkg/localaws"},
	{"pkg/worker/idempotent/postgres", "github.com/jackc/pgx/v5"},
	{"pkg/worker/idempotent/postgres", "pkg/worker/idempotent"},
	{"pkg/worker/idempotent/sqldb", "database/sql"},
	{"pkg/worker/idempotent/object", "github.com/aws/aws-sdk-go-v2/service/s3"},
	{"pkg/target", "pkg/worker"},
	{"pkg/target/cloud", "github.com/aws/aws-sdk-go-v2/service/lambda"},
	{"functions/work", "pkg/target/cloud"},
	{"pkg/record", "pkg/store"},
	{"pkg/archive", "pkg/record"},
	{"pkg/archive/bucket", "github.com/aws/aws-sdk-go-v2/service/s3"},
	{"pkg/httpapi", "pkg/control"},
	{"pkg/localaws/dynamo", "pkg/localaws"},
	{"pkg/localaws", "go.etcd.io/bbolt"},
	{"pkg/localaws", "github.com/aws/aws-sdk-go-v2/credentials"},
	{"pkg/localaws/platform", "github.com/aws/aws-sdk-go-v2/service/sqs/types"},
	{"pkg/sim", "pkg/execute"},
	{"functions/work", "pkg/worker"},
	{"cmd/belfry", "github.com/spf13/cobra"},
}

// behaviour lists what a function body must not do, or may.
var behaviour = []struct{ room, imports, body, linter, text string }{
	{"pkg/worker", "time", "_ = time.Now()", "forbidigo", "time is a parameter"},
	{"pkg/execute", "time", "_ = time.Since(time.Time{})", "forbidigo", "time is a parameter"},
	{"pkg/execute", "time", "_ = time.Until(time.Time{})", "forbidigo", "time is a parameter"},
	{"pkg/worker", "time", "time.Sleep(1)", "forbidigo", "waiting goes through pkg/clock"},
	{"pkg/worker", "time", "<-time.After(1)", "forbidigo", "waiting goes through pkg/clock"},
	{"pkg/worker", "time", "time.NewTimer(1).Stop()", "forbidigo", "waiting goes through pkg/clock"},
	{"pkg/execute", "time", "time.NewTicker(1).Stop()", "forbidigo", "waiting goes through pkg/clock"},
	{"pkg/execute", "time", "time.AfterFunc(1, func() {}).Stop()", "forbidigo", "waiting goes through pkg/clock"},
	{"pkg/store", "other time", "_ = other.Now()", "forbidigo", "time is a parameter"},
	{"pkg/trigger", "math/rand/v2", "_ = rand.IntN(2)", "forbidigo", "randomness is a parameter"},
	{"pkg/worker", "crypto/rand", "_ = rand.Reader", "forbidigo", "randomness is a parameter"},
	{"pkg/store", "os", `_ = os.Getenv("X")`, "forbidigo", "settings enter through cmd"},
	{"pkg/store", "fmt", `fmt.Println("x")`, "forbidigo", "stdout belongs to the command line"},
	{"pkg/localaws", "os", `_ = os.Getenv("X")`, "forbidigo", "settings enter through cmd"},
	{"pkg/localaws", "time", "_ = time.Now()", "", ""},
	{"pkg/clock", "time", "_ = time.Now()", "", ""},
	{"functions/tick", "time", "_ = time.Now()", "", ""},
	{"cmd/belfry", "crypto/rand", "_ = rand.Reader", "", ""},
	{"pkg/trigger", "math/rand/v2", "_ = rand.New(rand.NewPCG(1, 2)).IntN(2)", "", ""},
	{"pkg/execute", "time", "_ = time.Second", "", ""},
}

// shapes are rules about form.
func shapes() []violation {
	long := strings.Repeat("\t// One line of explanation more.\n", 61)
	return []violation{
		{"pkg/store/shape_file/x.go", "// Package x is long.\npackage x\n" + strings.Repeat("\n// A line.\n", 200),
			"revive", "file length is"},
		{"pkg/store/shape_func/x.go", "// Package x has a long function.\npackage x\n\n// Long is long.\nfunc Long() {\n" + long + "}\n",
			"funlen", "is too long"},
		{"pkg/store/shape_doc/x.go", "// Package x hides what it offers.\npackage x\n\nfunc Silent() {}\n",
			"revive", "exported function Silent should have comment"},
		{"pkg/store/shape_switch/x.go", `// Package x forgets a member of a closed list.
package x

// Status is a closed list.
type Status int

// The list.
const (
	A Status = iota
	B
)

// Of forgets B.
func Of(s Status) int {
	switch s {
	case A:
		return 1
	default:
		return 0
	}
}
`, "exhaustive", "missing cases in expression switch"},
		{"pkg/store/shape_nolint/x.go", "// Package x silences the linter without a reason.\npackage x\n\nimport \"os\"\n\n// F does.\nfunc F() {\n\tos.Remove(\"x\") //nolint:errcheck\n}\n",
			"nolintlint", "should provide explanation"},
		{"pkg/store/shape_later/x.go", "// Package x puts work off.\npackage x\n\n// TO" + "DO: later\n",
			"godox", "Line contains TO" + "DO"},
		{"pkg/execute/shape_test/x_test.go", "// Package x tests two planes at once.\npackage x\n\nimport _ \"" + module + "/pkg/trigger\" // violates\n",
			"depguard", "a test that needs two planes"},
		{"pkg/execute/shape_realtest/x_test.go", "// Package x stands the plane on the store.\npackage x\n\nimport _ \"" + module + "/pkg/store\" // permitted\n",
			"", ""},
	}
}

// violations are all of the above as files, each in a package of its own.
func violations() []violation {
	all := shapes()
	for i, f := range forbidden {
		all = append(all, importing(f.room, i, "refused", f.imports, "depguard", f.reason))
	}
	for i, p := range permitted {
		all = append(all, importing(p.room, i, "allowed", p.imports, "", ""))
	}
	for i, b := range behaviour {
		imports := fmt.Sprintf("%q", b.imports)
		if name, path, renamed := strings.Cut(b.imports, " "); renamed {
			imports = fmt.Sprintf("%s %q", name, path)
		}
		source := fmt.Sprintf("// Package x does one thing.\npackage x\n\nimport %s\n\n// F does it.\nfunc F() {\n\t%s\n}\n", imports, b.body)
		all = append(all, violation{fmt.Sprintf("%s/behaviour_%d/x.go", b.room, i), source, b.linter, b.text})
	}
	return all
}

func importing(room string, i int, word, imports, linter, text string) violation {
	if strings.HasPrefix(imports, "pkg/") {
		imports = module + "/" + imports
	}
	source := fmt.Sprintf("// Package x imports one thing.\npackage x\n\nimport _ %q // for the linter to judge\n", imports)
	return violation{fmt.Sprintf("%s/%s_%d/x.go", room, word, i), source, linter, text}
}
