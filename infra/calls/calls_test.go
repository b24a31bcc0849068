package calls_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/infra/calls"
)

func TestNeedsAreWhatMainCanReach(t *testing.T) {
	source, err := calls.Load(".", "github.com/belfry-scheduler/belfry/infra", "./testdata/program")
	if err != nil {
		t.Fatal(err)
	}
	program, err := source.Program("calls/testdata/program")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"dynamodb:DeleteItem on control",    // a part of a transaction
		"dynamodb:PutItem on jobs",          // another
		"dynamodb:Query on control",         // the table is assigned to the input
		"dynamodb:Query on jobs/index/due",  // table and index are handed to a helper
		"dynamodb:UpdateItem on executions", // the table is in a value that a helper takes
		"sqs:SendMessage",                   // through an interface
	}
	if got := program.Needs(); !slices.Equal(got, want) {
		t.Errorf("needs are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestWhatIsNoProgramIsRefused(t *testing.T) {
	source, err := calls.Load(".", "github.com/belfry-scheduler/belfry/infra", "./testdata/program")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := source.Program("calls"); err == nil {
		t.Error("accepted")
	}
	if _, err := calls.Load(".", "github.com/belfry-scheduler/belfry/infra", "./testdata/nothing"); err == nil {
		t.Error("a package that is not there is read")
	}
}
