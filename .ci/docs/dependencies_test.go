package docs

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var requirement = regexp.MustCompile(`(?m)^\s*(?:require )?([a-z0-9.-]+\.[a-z]+/\S+) (v\S+)`)

// required are the modules of go.mod with their versions.
func required(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, m := range requirement.FindAllStringSubmatch(string(text), -1) {
		found[m[1]] = m[2]
	}
	return found
}

// imported are the modules that a file of this repository imports by itself.
func imported(t *testing.T, modules map[string]string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && ignored(entry.Name()) {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			if name, err := strconv.Unquote(spec.Path.Value); err == nil {
				found[moduleOf(name, modules)] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(found, "")
	return found
}

// moduleOf is the longest module path that holds the package, empty for none.
func moduleOf(pkg string, modules map[string]string) string {
	longest := ""
	for module := range modules {
		if (pkg == module || strings.HasPrefix(pkg, module+"/")) && len(module) > len(longest) {
			longest = module
		}
	}
	return longest
}

// A row of the document: | `module` | version | …, where a pseudo-version is
// named by its commit.
var row = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^ |]+) \\|")

func TestEveryImportedModuleIsExplainedAtItsVersion(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	explained := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		explained[m[1]] = m[2]
	}
	modules := required(t)
	direct := imported(t, modules)
	if len(direct) == 0 {
		t.Fatal("no imported module found: the pattern has gone blind")
	}
	for module := range direct {
		if explained[module] == "" {
			t.Errorf("%s is imported but docs/dependencies.md does not say what for", module)
		}
	}
	for module, version := range explained {
		if modules[module] == "" {
			t.Errorf("docs/dependencies.md explains %s, which go.mod does not have", module)
		} else if modules[module] != version && !strings.HasSuffix(modules[module], "-"+version) {
			t.Errorf("docs/dependencies.md gives %s at %s, go.mod has %s", module, version, modules[module])
		}
	}
}
