package stacks_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"

	"github.com/belfry-scheduler/belfry/infra/parts"
	"github.com/belfry-scheduler/belfry/infra/settings"
	"github.com/belfry-scheduler/belfry/infra/stacks"
)

// built holds an empty bootstrap for each function: templates do not depend on
// what is in it, once the hashes are masked.
var built string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "belfry-built-")
	if err != nil {
		panic(err)
	}
	built = dir
	for _, file := range []string{"api/bootstrap", "tick/bootstrap", "scan/bootstrap", "work/bootstrap", "deadletter/bootstrap", "record/bootstrap", "archive/bootstrap",
		"worker/worker", "worker/image.tar"} {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			panic(err)
		}
		if err := os.WriteFile(path, []byte(file), 0o644); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	jsii.Close()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// resource is one resource of a template.
type resource struct {
	ID         string
	Type       string         `json:"Type"`
	Properties map[string]any `json:"Properties"`
	Metadata   map[string]any `json:"Metadata"`
	Deletion   string         `json:"DeletionPolicy"`
	After      any            `json:"DependsOn"`
	Replace    string         `json:"UpdateReplacePolicy"`
}

// template is one stack's, by the word of the stack.
type template struct {
	Stack     awscdk.Stack
	Raw       map[string]any
	Resources []resource
}

// installation is what is synthesized from one settings file.
type installation map[string]template

var synthesized = map[string]installation{}

// installed is the installation of a settings file, made once. The context is
// the repository's own.
func installed(t *testing.T, file string) installation {
	t.Helper()
	if made, is := synthesized[file]; is {
		return made
	}
	app := awscdk.NewApp(&awscdk.AppProps{AnalyticsReporting: jsii.Bool(false), Context: repositoryContext(t)})
	made := add(t, app, file)
	synthesized[file] = made
	return made
}

// fewPools is a file of pools without most of those that ship.
const fewPools = "pools: [{name: fast-io, kind: lambda}]"

// add makes the installation of a settings file in an app.
func add(t *testing.T, app awscdk.App, file string) installation {
	t.Helper()
	s, pools, err := settings.Read(fstest.MapFS{"belfry.yaml": {Data: []byte(file)}, "pools.yaml": {Data: []byte(fewPools)}}, "belfry.yaml", func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	awscdk.Aspects_Of(app).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{Verbose: jsii.Bool(true), Reports: jsii.Bool(false)}), nil)
	all := stacks.Build(app, parts.Installation{Settings: s, Pools: pools, Built: built})
	made := installation{"data": parse(t, all.Data.Stack), "core": parse(t, all.Core.Stack), "api": parse(t, all.API.Stack), "watch": parse(t, all.Watch.Stack)}
	if all.Workers != nil {
		made["workers"] = parse(t, all.Workers.Stack)
	}
	return made
}

func parse(t *testing.T, stack awscdk.Stack) template {
	t.Helper()
	text, err := json.Marshal(assertions.Template_FromStack(stack, nil).ToJSON())
	if err != nil {
		t.Fatal(err)
	}
	var document struct{ Resources map[string]resource }
	made := template{Stack: stack}
	if json.Unmarshal(text, &made.Raw) != nil || json.Unmarshal(text, &document) != nil {
		t.Fatal("the template is no JSON object")
	}
	for _, id := range slices.Sorted(maps.Keys(document.Resources)) {
		r := document.Resources[id]
		r.ID = id
		made.Resources = append(made.Resources, r)
	}
	return made
}

func repositoryContext(t *testing.T) *map[string]any {
	t.Helper()
	text, err := os.ReadFile("../../cdk.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Context map[string]any `json:"context"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	return &file.Context
}

// of are the resources of a type, at least one.
func (i installation) of(t *testing.T, kind string) []resource {
	t.Helper()
	var found []resource
	for _, stack := range slices.Sorted(maps.Keys(i)) {
		for _, r := range i[stack].Resources {
			if r.Type == kind {
				found = append(found, r)
			}
		}
	}
	if len(found) == 0 {
		t.Fatalf("there is no %s", kind)
	}
	return found
}

// named is the resource of a type whose property says name.
func (i installation) named(t *testing.T, kind, property, name string) resource {
	t.Helper()
	for _, r := range i.of(t, kind) {
		if r.get(property) == name {
			return r
		}
	}
	t.Fatalf("no %s has %s %s", kind, property, name)
	return resource{}
}

// get is the property at a path such as VpcConfig.Subnets.0 in a form that can
// be compared: texts and numbers as text, all else as JSON, "" for what is absent.
func (r resource) get(path string) string { return text(at(r.Properties, path)) }

func at(value any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[key]
		case []any:
			var n int
			if _, err := fmt.Sscan(key, &n); err != nil || n >= len(v) {
				return nil
			}
			value = v[n]
		default:
			return nil
		}
	}
	return value
}

func text(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	shown, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(shown)
}

// expect holds properties against what they must be.
func (r resource) expect(t *testing.T, want map[string]string) {
	t.Helper()
	for _, path := range slices.Sorted(maps.Keys(want)) {
		if got := r.get(path); got != want[path] {
			t.Errorf("%s %s has %s %q, want %q", r.Type, r.ID, path, got, want[path])
		}
	}
}
