package docs

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// documents are all Markdown files of the repository, by path from its root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && ignored(entry.Name()) {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		found[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatal("no documents found")
	}
	return found
}

func ignored(name string) bool {
	switch name {
	case ".git", ".venv", ".venv-stack", ".belfry", "bin", "build", "node_modules", "cdk.out":
		return true
	}
	return false
}

var (
	target  = regexp.MustCompile(`(?m)^([a-z][a-z0-9.-]*)(?: [a-z. -]+)?:(?:[^=]|$)`)
	mention = regexp.MustCompile("(?m)(?:`|^\\s*\\$? *)make ([a-z][a-z0-9-]*)")
)

func TestEveryMakeTargetThatADocumentNamesExists(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	exists := map[string]bool{}
	for _, m := range target.FindAllStringSubmatch(string(makefile), -1) {
		exists[m[1]] = true
	}
	named := 0
	for path, text := range documents(t) {
		for _, m := range mention.FindAllStringSubmatch(text, -1) {
			named++
			if !exists[m[1]] {
				t.Errorf("%s names `make %s`, which the Makefile does not have", path, m[1])
			}
		}
	}
	if named == 0 {
		t.Error("no document names a make target: the pattern has gone blind")
	}
}

var link = regexp.MustCompile(`\]\(([^)\s]+)(?: "[^"]*")?\)`)

func TestEveryRelativeLinkResolves(t *testing.T) {
	docs := documents(t)
	for path, text := range docs {
		for _, m := range link.FindAllStringSubmatch(outsideCode(text), -1) {
			u, err := url.Parse(m[1])
			if err != nil {
				t.Errorf("%s: link %q: %v", path, m[1], err)
				continue
			}
			if u.Scheme != "" {
				continue
			}
			goal := path
			if u.Path != "" {
				goal = filepath.Join(filepath.Dir(path), u.Path)
			}
			if _, err := os.Stat(goal); err != nil {
				t.Errorf("%s links to %s, which is not there", path, m[1])
				continue
			}
			if text, ok := docs[goal]; ok && u.Fragment != "" && !anchors(text)[u.Fragment] {
				t.Errorf("%s links to %s, which has no such heading", path, m[1])
			}
		}
	}
}

var fence = regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]*`")

func outsideCode(text string) string { return fence.ReplaceAllString(text, "") }

var (
	heading     = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	punctuation = regexp.MustCompile(`[^\p{L}\p{N}\- _]`)
)

// anchors are the names by which headings can be linked to.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		plain := punctuation.ReplaceAllString(strings.ToLower(m[1]), "")
		found[strings.ReplaceAll(plain, " ", "-")] = true
	}
	return found
}
