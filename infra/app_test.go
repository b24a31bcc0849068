package main

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// builtApp is the app as the CDK runs it, and a folder of programs to deploy.
func builtApp(t *testing.T) (app, built string) {
	t.Helper()
	dir := t.TempDir()
	app, built = filepath.Join(dir, "app"), filepath.Join(dir, "built")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", app, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	source, tiny := filepath.Join(dir, "main.go"), filepath.Join(dir, "tiny")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	small := exec.CommandContext(t.Context(), "go", "build", "-o", tiny, source)
	small.Env = append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0")
	if out, err := small.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, program := range programs {
		path := filepath.Join(built, program)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(tiny, path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(built, "worker", "image.tar"), []byte("an image"), 0o644); err != nil {
		t.Fatal(err)
	}
	return app, built
}

func TestTheAppSynthesizesWhatFileAndContextSay(t *testing.T) {
	app, built := builtApp(t)
	native := map[string]string{"amd64": "x86_64", "arm64": "arm64"}[goarch(t)]
	for sentence, row := range map[string]struct {
		context map[string]any
		want    string // a template's name, or a part of what is told when it fails
		fails   bool
	}{
		"the context names an installation": {map[string]any{"belfry:prefix": "acme"}, "acme-core.template.json", false},
		"a setting is out of bounds":        {map[string]any{"belfry:api.rate": "0"}, "api.rate", true},
		"a name of the context is misspelt": {map[string]any{"belfry:tables.warm_write": "5"}, "did you mean belfry:tables.warm_writes?", true},
		"a settings file is not there":      {map[string]any{"belfry:settings": "nowhere.yaml"}, "nowhere.yaml", true},
		"programs of another architecture":  {map[string]any{"belfry:architecture": map[string]string{"x86_64": "arm64", "arm64": "x86_64"}[native]}, "ARCH=", true},
	} {
		t.Run(sentence, func(t *testing.T) {
			context := map[string]any{"belfry:architecture": native, "belfry:built": built}
			maps.Copy(context, row.context)
			encoded, err := json.Marshal(context)
			if err != nil {
				t.Fatal(err)
			}
			assembly := t.TempDir()
			run := exec.CommandContext(t.Context(), app)
			run.Dir, run.Env = "..", append(os.Environ(), "CDK_CONTEXT_JSON="+string(encoded), "CDK_OUTDIR="+assembly)
			out, err := run.CombinedOutput()
			if (err != nil) != row.fails {
				t.Fatalf("ended with %v:\n%s", err, out)
			}
			if row.fails {
				if !strings.Contains(string(out), row.want) {
					t.Errorf("%s is not in what it says:\n%s", row.want, out)
				}
			} else if _, err := os.Stat(filepath.Join(assembly, row.want)); err != nil {
				t.Error(err)
			} else {
				loadsThePackedImage(t, filepath.Join(assembly, "acme-workers.assets.json"))
			}
		})
	}
}

// loadsThePackedImage expects that the deployment pushes what was packed, and builds
// nothing of its own.
func loadsThePackedImage(t *testing.T, assets string) {
	t.Helper()
	text, err := os.ReadFile(assets)
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		DockerImages map[string]struct {
			Source struct{ Executable []string }
		}
	}
	if err := json.Unmarshal(text, &manifest); err != nil || len(manifest.DockerImages) != 1 {
		t.Fatalf("%v: %d images in %s, want one", err, len(manifest.DockerImages), text)
	}
	for _, image := range manifest.DockerImages {
		command := image.Source.Executable
		packed := filepath.Join(filepath.Dir(assets), command[len(command)-1])
		if said, err := os.ReadFile(packed); err != nil || string(said) != "an image" || !strings.Contains(strings.Join(command, " "), "docker load") {
			t.Errorf("the deployment runs %q for the image, and finds %q, %v", command, said, err)
		}
	}
}

func goarch(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOARCH").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
