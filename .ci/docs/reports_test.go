package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var (
	testName = regexp.MustCompile("`(Test[A-Za-z0-9]+)`")
	testFunc = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9]+)\(`)
	reportID = regexp.MustCompile(`PB-\d{3}`)
	quoted   = regexp.MustCompile(`"([a-zA-Z][^"]{10,})"`)
)

// sources are the names of all tests of the repository, and the text of them.
func sources(t *testing.T) (tests map[string]bool, text string) {
	t.Helper()
	tests = map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && ignored(entry.Name()) {
			return filepath.SkipDir
		}
		if matched, _ := filepath.Match("*_test.go", entry.Name()); !matched {
			return nil
		}
		source, err := os.ReadFile(path)
		for _, m := range testFunc.FindAllStringSubmatch(string(source), -1) {
			tests[m[1]] = true
		}
		text += string(source)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests, text
}

// A report that is shown by a test which has gone is shown by nothing.
func TestEveryTestThatTheFieldReportsNameIsThere(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/field-reports.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests, text := sources(t)
	named := testName.FindAllStringSubmatch(string(page), -1)
	for _, m := range named {
		if !tests[m[1]] {
			t.Errorf("docs/field-reports.md names %s, which no package has", m[1])
		}
	}
	rows := quoted.FindAllStringSubmatch(string(page), -1)
	for _, m := range rows {
		if !regexp.MustCompile(`"` + regexp.QuoteMeta(m[1]) + `"`).MatchString(text) {
			t.Errorf("docs/field-reports.md names the row %q, which no test has", m[1])
		}
	}
	if len(named) < 50 || len(rows) < 5 || len(reportID.FindAllString(string(page), -1)) < 60 {
		t.Errorf("%d tests and %d rows are named: the patterns have gone blind", len(named), len(rows))
	}
}
