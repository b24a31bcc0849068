package walls

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

type finding struct {
	FromLinter string
	Text       string
	Pos        struct{ Filename string }
}

func TestEveryWallRefusesWhatItIsThereFor(t *testing.T) {
	all := violations()
	found := lint(t, scratch(t, all))
	for _, v := range all {
		said := found[v.path]
		if v.linter == "" {
			for _, f := range said {
				t.Errorf("%s keeps the rules, yet %s says: %s\n%s", v.path, f.FromLinter, f.Text, v.source)
			}
			continue
		}
		if !refused(said, v) {
			t.Errorf("%s was not refused by %s with %q; said: %+v\n%s", v.path, v.linter, v.text, said, v.source)
		}
	}
}

func refused(said []finding, v violation) bool {
	for _, f := range said {
		if f.FromLinter == v.linter && strings.Contains(f.Text, v.text) {
			return true
		}
	}
	return false
}

// scratch makes a module with the repository's name, dependencies and linter
// configuration, its rooms as empty packages, and the violations.
func scratch(t *testing.T, all []violation) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", ".golangci.yml"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, name, string(text))
	}
	for _, room := range rooms {
		write(t, dir, room+"/doc.go", "// Package x stands empty.\npackage x\n")
	}
	for _, v := range all {
		write(t, dir, v.path, v.source)
	}
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// lint runs the repository's linter once over dir and sorts what it says by file.
func lint(t *testing.T, dir string) map[string][]finding {
	t.Helper()
	binary, err := filepath.Abs(filepath.Join(root, "bin/golangci-lint"))
	if err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(dir, "report.json")
	cmd := exec.Command(binary, "run", "--allow-parallel-runners", "--output.json.path", report, "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod -buildvcs=false")
	said, runErr := cmd.CombinedOutput()
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatalf("no report (%v):\n%s", runErr, said)
	}
	var parsed struct{ Issues []finding }
	if err := json.Unmarshal(text, &parsed); err != nil {
		t.Fatalf("unreadable report: %v\n%s", err, said)
	}
	found := map[string][]finding{}
	for _, f := range parsed.Issues {
		found[filepath.ToSlash(f.Pos.Filename)] = append(found[filepath.ToSlash(f.Pos.Filename)], f)
	}
	return found
}
