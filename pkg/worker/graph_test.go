package worker_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// linked are the modules that a program gets with package worker, and no other: what
// a handler's author imports stays small (docs/decisions.md has the measure). A module
// more in this list is one more that every team has to look through.
var linked = []string{"github.com/aws/aws-lambda-go", "github.com/aws/aws-sdk-go-v2", "github.com/aws/aws-sdk-go-v2/internal/configsources", "github.com/aws/aws-sdk-go-v2/internal/endpoints/v2",
	"github.com/aws/aws-sdk-go-v2/service/sqs", "github.com/aws/smithy-go", "github.com/belfry-scheduler/belfry", "github.com/cespare/xxhash/v2", "github.com/gorhill/cronexpr",
	"github.com/oklog/ulid/v2", "go.opentelemetry.io/otel", "go.opentelemetry.io/otel/trace", "golang.org/x/sync"}

// ours are Belfry's own packages among them: no control plane, no store, no backend.
var ours = []string{"clock", "execute", "job", "job/template", "lifecycle", "observe", "queue", "schedule", "worker"}

func TestWhatAHandlersAuthorImportsStaysSmall(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}} {{end}}{{.ImportPath}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	var modules, packages []string
	for line := range strings.Lines(string(out)) {
		module, path, outside := strings.Cut(strings.TrimSpace(line), " ")
		if !outside {
			continue // of the standard library
		}
		modules = append(modules, module)
		if own, is := strings.CutPrefix(path, "github.com/belfry-scheduler/belfry/pkg/"); is {
			packages = append(packages, own)
		}
	}
	slices.Sort(modules)
	slices.Sort(packages)
	if modules = slices.Compact(modules); !slices.Equal(modules, linked) {
		t.Errorf("package worker brings the modules\n%s\nwant\n%s", strings.Join(modules, "\n"), strings.Join(linked, "\n"))
	}
	if !slices.Equal(packages, ours) {
		t.Errorf("package worker brings %v of Belfry's, want %v", packages, ours)
	}
}
