package lifecycle_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// constants are the values of all constants of a type that a file declares.
func constants(t *testing.T, path, typeName string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Type == nil {
			return true
		}
		name := ""
		switch of := spec.Type.(type) {
		case *ast.Ident:
			name = of.Name
		case *ast.SelectorExpr:
			name = of.Sel.Name
		}
		if name != typeName {
			return true
		}
		for _, value := range spec.Values {
			if lit, ok := value.(*ast.BasicLit); ok {
				text, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				found = append(found, text)
			}
		}
		return true
	})
	return found
}

// sameWords compares two lists whatever their order; a word twice is a fault.
func sameWords[S ~string](t *testing.T, what string, listed []S, declared []string) {
	t.Helper()
	var words []string
	for _, w := range listed {
		words = append(words, string(w))
	}
	slices.Sort(words)
	slices.Sort(declared)
	if len(declared) == 0 || !slices.Equal(words, declared) {
		t.Errorf("%s: listed %v\ndeclared %v", what, words, declared)
	}
}

func TestTheListsNameEveryStateAndReasonOnce(t *testing.T) {
	sameWords(t, "statuses", lifecycle.Statuses, constants(t, "../job/execution.go", "Status"))
	sameWords(t, "states", lifecycle.States, constants(t, "../job/head.go", "State"))
	sameWords(t, "reasons", lifecycle.Reasons, constants(t, "reason.go", "Reason"))
}

func TestEveryReasonHasASentenceOfItsOwn(t *testing.T) {
	seen := map[string]job.Reason{}
	for _, r := range lifecycle.Reasons {
		sentence := lifecycle.Sentence(r)
		if sentence == "" {
			t.Errorf("%s has no sentence", r)
		}
		if other, twice := seen[sentence]; twice {
			t.Errorf("%s and %s share the sentence %q", r, other, sentence)
		}
		seen[sentence] = r
	}
	if lifecycle.Sentence("") != "" || lifecycle.Sentence("SOMETHING_NEWER") != "" {
		t.Error("an unknown reason has a sentence")
	}
}

// reachable are the states that arrows lead to from where things are born.
func reachable[S ~string](table []lifecycle.Arrow[S], births ...S) map[S]bool {
	found := map[S]bool{}
	for _, s := range births {
		found[s] = true
	}
	for grown := true; grown; {
		grown = false
		for _, a := range table {
			if found[a.From] && !found[a.To] {
				found[a.To], grown = true, true
			}
		}
	}
	return found
}

func TestTheExecutionTable(t *testing.T) {
	for _, s := range lifecycle.Statuses {
		if !reachable(lifecycle.ExecutionArrows, job.Scheduled)[s] {
			t.Errorf("nothing leads to %s", s)
		}
		var goals []job.Status
		for _, to := range lifecycle.Statuses {
			if lifecycle.Allowed(lifecycle.ExecutionArrows, s, to) {
				goals = append(goals, to)
			}
		}
		if lifecycle.Terminal(s) != (len(goals) == 0) {
			t.Errorf("%s is terminal: %v, but arrows lead to %v", s, lifecycle.Terminal(s), goals)
		}
		if lifecycle.DeadLetter(s) && !lifecycle.Terminal(s) {
			t.Errorf("%s is a dead letter but no end", s)
		}
	}
	if lifecycle.Terminal("SOMETHING_NEWER") {
		t.Error("an unknown status counts as an end")
	}
	for name, forbidden := range map[string][2]job.Status{
		"what has begun is never made again":        {job.Running, job.Scheduled},
		"what has begun is never withdrawn":         {job.Running, job.Withdrawn},
		"nor while it waits for a retry":            {job.RetryWait, job.Withdrawn},
		"a retry wait is not made again":            {job.RetryWait, job.Scheduled},
		"what was withdrawn runs only when re-made": {job.Withdrawn, job.Running},
		"a success stays one":                       {job.Succeeded, job.Failed},
		"a death is final":                          {job.Dead, job.Scheduled},
		"a cancel is final":                         {job.Canceled, job.Running},
	} {
		if lifecycle.Allowed(lifecycle.ExecutionArrows, forbidden[0], forbidden[1]) {
			t.Errorf("%s: the table holds %s → %s", name, forbidden[0], forbidden[1])
		}
	}
}

func TestTheJobTable(t *testing.T) {
	for _, s := range lifecycle.States {
		if !reachable(lifecycle.JobArrows, job.Enabled, job.Paused)[s] {
			t.Errorf("nothing leads to %s", s)
		}
		if s != job.Deleted && !lifecycle.Allowed(lifecycle.JobArrows, s, job.Deleted) {
			t.Errorf("a job that is %s cannot be deleted", s)
		}
		if !reachable(lifecycle.JobArrows, s)[job.Enabled] {
			t.Errorf("nothing leads from %s back to a job that runs", s)
		}
	}
}

func TestNoArrowStandsTwice(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range lifecycle.ExecutionArrows {
		key := string(a.From) + " " + string(a.To)
		if seen[key] || a.Event == "" {
			t.Errorf("%s: twice, or without an event", key)
		}
		seen[key] = true
	}
	for _, a := range lifecycle.JobArrows {
		key := string(a.From) + " " + string(a.To)
		if seen[key] || a.Event == "" {
			t.Errorf("%s: twice, or without an event", key)
		}
		seen[key] = true
	}
}
