package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestAnAssemblyThatWantsToLookSomethingUpIsRefused(t *testing.T) {
	for sentence, row := range map[string]struct{ manifest, want string }{
		"nothing to look up":  {`{"version":"1","artifacts":{}}`, ""},
		"an empty list":       {`{"missing":[]}`, ""},
		"zones of an account": {`{"missing":[{"key":"availability-zones:account=1:region=x","provider":"availability-zones"}]}`, "availability-zones:account=1"},
		"not a manifest":      {`[`, "read the assembly"},
	} {
		t.Run(sentence, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(row.manifest), 0o644); err != nil {
				t.Fatal(err)
			}
			err := missing(dir)
			if (err == nil) != (row.want == "") || (err != nil && !strings.Contains(err.Error(), row.want)) {
				t.Errorf("answered %v, want %q", err, row.want)
			}
		})
	}
}

func TestAProgramForAnotherArchitectureIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for architecture, goarch := range map[string]string{"arm64": "arm64", "x86_64": "amd64"} {
		build := exec.CommandContext(t.Context(), "go", "build", "-o", architecture, "main.go")
		build.Dir, build.Env = dir, append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0", "GOARCH="+goarch)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	for _, row := range []struct{ architecture, program, want string }{
		{"arm64", "arm64", ""}, {"x86_64", "x86_64", ""}, {"arm64", "x86_64", "ARCH=arm64"}, {"x86_64", "arm64", "ARCH=x86_64"},
		{"arm64", "main.go", "make functions"}, {"arm64", "nowhere", "make functions"},
	} {
		err := checkMachine(dir, row.architecture, row.program)
		if (err == nil) != (row.want == "") || (err != nil && !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s as %s: answered %v, want %q", row.program, row.architecture, err, row.want)
		}
	}
}

// The CDK takes every variable that begins with its name for an option of its own.
func TestNoVariableOfTheBuildLooksLikeAnOptionOfTheCDK(t *testing.T) {
	for _, file := range []string{"../Makefile", "../localstack/stack"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := regexp.MustCompile(`\$[({]CDK\w*`).FindAll(text, -1); len(found) > 0 {
			t.Errorf("%s reads %s", file, found)
		}
	}
}
