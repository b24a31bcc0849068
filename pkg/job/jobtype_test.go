package job_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestTheListOfTypesIsChecked(t *testing.T) {
	var many []string
	for n := range job.MaxTypes + 1 {
		many = append(many, fmt.Sprintf("t%d", n))
	}
	for sentence, row := range map[string]struct {
		types []string
		bound string // of the refusal; empty = fine
	}{
		"no list means that a job has no type": {nil, ""},
		"twenty are fine":                      {many[:job.MaxTypes], ""},
		"one more is not":                      {many, "20"},
		"the longest name is fine":             {[]string{strings.Repeat("a", job.MaxTypeLength)}, ""},
		"a longer one is not":                  {[]string{strings.Repeat("a", job.MaxTypeLength+1)}, "32 characters"},
		"a name like any other":                {[]string{"Report"}, job.NamePattern},
		"no empty name":                        {[]string{"report", ""}, job.NamePattern},
		"what figures call no type":            {[]string{"none"}, "none and other"},
		"what figures call an unlisted one":    {[]string{"other"}, "none and other"},
		"each name once":                       {[]string{"report", "billing", "report"}, "once"},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := job.CheckTypes(row.types)
			var refusal *job.Error
			if (err != nil) != (row.bound != "") || err != nil && (!errors.As(err, &refusal) || !strings.Contains(refusal.Bound, row.bound) || refusal.Field != "types") {
				t.Errorf("answered %v, want a refusal that names %q", err, row.bound)
			}
		})
	}
}

func TestEveryTargetIsOfAKnownKind(t *testing.T) {
	members := reflect.TypeFor[job.Target]()
	for n := range members.NumField() {
		var target job.Target
		reflect.ValueOf(&target).Elem().Field(n).Set(reflect.New(members.Field(n).Type.Elem()))
		if !slices.Contains(job.TargetKinds, target.Kind()) {
			t.Errorf("a target with %s is of kind %q, which job.TargetKinds does not have", members.Field(n).Name, target.Kind())
		}
	}
	if members.NumField() != len(job.TargetKinds) {
		t.Errorf("%d kinds are listed of %d", len(job.TargetKinds), members.NumField())
	}
}
