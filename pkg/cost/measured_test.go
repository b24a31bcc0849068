package cost

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// counted is what `cmd/bench budget` answers.
type counted struct {
	figures map[string]float64
	parts   map[string]map[string]float64
}

func bench(t *testing.T) counted {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "run", "-buildvcs=false", "../../cmd/bench", "budget")
	var errs bytes.Buffer
	command.Stderr = &errs
	out, err := command.Output()
	if err != nil {
		t.Fatalf("the bench failed: %v\n%s", err, errs.String())
	}
	document := map[string]json.RawMessage{}
	if err := json.Unmarshal(out, &document); err != nil {
		t.Fatal(err)
	}
	c := counted{figures: map[string]float64{}}
	if err := json.Unmarshal(document["parts"], &c.parts); err != nil {
		t.Fatal(err)
	}
	for name, raw := range document {
		var figure float64
		if json.Unmarshal(raw, &figure) == nil {
			c.figures[name] = figure
		}
	}
	return c
}

func same(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestTheUnitsAreThoseThatTheBenchCounts(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the bench; part of make test")
	}
	c := bench(t)
	known := map[string]map[string]bool{}
	for _, u := range Measured {
		found, counted := c.figures[u.Figure]
		if u.Part != "" {
			found, counted = c.parts[u.Figure][u.Part]
		}
		if !counted || !same(found, u.Amount) {
			t.Errorf("%s is %v of %s %s here, the bench counts %v", u.Name, u.Amount, u.Figure, u.Part, found)
		}
		if known[u.Figure] == nil {
			known[u.Figure] = map[string]bool{}
		}
		known[u.Figure][u.Part] = true
	}
	for figure, parts := range known {
		for part := range c.parts[figure] {
			if !parts[part] && !parts[""] {
				t.Errorf("the bench counts %q in %s, and nobody pays for it here", part, figure)
			}
		}
	}
}

// rowsOf are the names of the tables, and how often each stands there.
func rowsOf(t *testing.T) map[string]map[string]int {
	t.Helper()
	rows := map[string]map[string]int{"measured": {}, "assumed": {}, "price": {}}
	for _, u := range Measured {
		rows["measured"][u.Name]++
		if u.Amount <= 0 || u.Each == "" {
			t.Errorf("%+v says too little", u)
		}
	}
	for _, a := range Assumed {
		rows["assumed"][a.Name]++
		if a.Amount <= 0 || a.Unit == "" {
			t.Errorf("%+v says too little", a)
		}
	}
	for _, p := range Prices {
		rows["price"][p.Name]++
		if p.USD <= 0 || p.Per <= 0 || p.Source == "" || p.Seen == "" {
			t.Errorf("%+v says too little", p)
		}
	}
	return rows
}

var (
	calls  = regexp.MustCompile(`\b(measured|assumed|price)\(("[^)]*")\)`)
	lines  = regexp.MustCompile(`\bl(?:oad)?\.line\("[^"]*", "[^"]*", ("[^"]*"),|in\.line\("[^"]*", "[^"]*", ("[^"]*"),`)
	quoted = regexp.MustCompile(`"([^"]*)"`)
)

func TestEveryNameInTheCodeIsOneRowOfItsTable(t *testing.T) {
	rows := rowsOf(t)
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, path := range sources {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found := calls.FindAllStringSubmatch(string(text), -1)
		for _, m := range lines.FindAllStringSubmatch(string(text), -1) {
			found = append(found, []string{"", "price", m[1] + m[2]})
		}
		for _, m := range found {
			for _, name := range quoted.FindAllStringSubmatch(m[2], -1) {
				asked++
				if rows[m[1]][name[1]] != 1 {
					t.Errorf("%s asks for %s(%q), which stands %d times in its table", path, m[1], name[1], rows[m[1]][name[1]])
				}
			}
		}
	}
	if asked < 60 {
		t.Errorf("%d names found: the pattern has gone blind", asked)
	}
}
