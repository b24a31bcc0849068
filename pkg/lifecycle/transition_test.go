package lifecycle_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// noon is the clock of these tests.
var noon = time.Date(2026, 7, 12, 12, 0, 0, 0, time.UTC)

var http503 = lifecycle.Failure{Class: lifecycle.Transient, Code: "HTTP_503", Text: "try later"}

// constructors are all ways to make a transition, by the name of the function.
func constructors() map[string]lifecycle.Transition {
	reviewed, _ := lifecycle.ReviewedAs(job.TryAgain, noon, "ada") // each verdict: TestAPersonsTransitionsLieOnTheTable
	return map[string]lifecycle.Transition{
		"Settled":       lifecycle.Settled(noon, "w1"),
		"Confirmed":     lifecycle.Confirmed(noon, "w1"),
		"LeftForReview": lifecycle.LeftForReview(noon, "w1", http503),
		"Waiting":       lifecycle.Waiting(noon, noon.Add(time.Minute), "w1", lifecycle.HandlerError, http503),
		"FailedForGood": lifecycle.FailedForGood(noon, "w1", http503),
		"GivenUp":       lifecycle.GivenUp(noon, "w1", lifecycle.MaxAge, http503),
		"CanceledBy":    lifecycle.CanceledBy(noon, "ada"),
		"WithdrawnBy":   lifecycle.WithdrawnBy(noon, "scan", lifecycle.Superseded),
		"RetriedNow":    lifecycle.RetriedNow(noon, "ada"),
		"ReviewedAs":    reviewed,
		"MissedBy":      lifecycle.MissedBy(noon, "scan", lifecycle.Misfire),
	}
}

func TestEveryTransitionLiesOnTheTable(t *testing.T) {
	for name, made := range constructors() {
		if len(made.From()) == 0 {
			t.Errorf("%s comes from nowhere", name)
		}
		for _, from := range made.From() {
			if !lifecycle.Allowed(lifecycle.ExecutionArrows, from, made.To()) {
				t.Errorf("%s leads %s → %s, which the table does not hold", name, from, made.To())
			}
		}
		if !slices.Contains(lifecycle.Reasons, made.Reason()) {
			t.Errorf("%s gives the reason %q, which is not on the list", name, made.Reason())
		}
		if made.Ends() != lifecycle.Terminal(made.To()) || made.At() != noon {
			t.Errorf("%s: ends %v at %v", name, made.Ends(), made.At())
		}
	}
}

// TestNoConstructorIsForgotten reads the source: a new constructor must join
// the list above, or the test before this one would pass it by.
func TestNoConstructorIsForgotten(t *testing.T) {
	var declarations []ast.Decl
	for _, name := range []string{"transition.go", "person.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		declarations = append(declarations, file.Decls...)
	}
	known := constructors()
	for _, declared := range declarations {
		f, ok := declared.(*ast.FuncDecl)
		if !ok || f.Recv != nil || f.Type.Results == nil {
			continue
		}
		if result, ok := f.Type.Results.List[0].Type.(*ast.Ident); ok && result.Name == "Transition" {
			if _, listed := known[f.Name.Name]; !listed {
				t.Errorf("%s is not in the list of constructors", f.Name.Name)
			}
			delete(known, f.Name.Name)
		}
	}
	for name := range known {
		t.Errorf("%s is listed but not declared in these files", name)
	}
}

func TestATransitionTellsItsTimelineEntry(t *testing.T) {
	e := &job.Execution{Attempt: 3, FencingToken: 7}
	got := lifecycle.FailedForGood(noon, "w1", http503).Entry(e)
	want := job.Entry{At: noon, To: job.Failed, Attempt: 3, Token: 7, Reason: lifecycle.Permanent, Actor: "w1", ErrorCode: "HTTP_503"}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	waiting := lifecycle.Waiting(noon, noon.Add(time.Minute), "w1", lifecycle.Throttled, http503)
	if waiting.AvailableAt() != noon.Add(time.Minute) || waiting.ErrorCode() != "HTTP_503" || waiting.ErrorText() != "try later" || waiting.Ends() {
		t.Errorf("a retry wait tells %v %q %q", waiting.AvailableAt(), waiting.ErrorCode(), waiting.ErrorText())
	}
}
