package jobfile

import (
	"errors"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// What is written as nothing is not taken for what is left out: a zero or a text
// that is empty, as a template leaves it, would become the default of its key.
func TestAValueThatIsNothingIsRefused(t *testing.T) {
	noon := time.Date(2026, 7, 12, 12, 0, 0, 0, time.UTC)
	for _, line := range []string{
		"timeout: 0s", "start_deadline: 0s", "retry: {max_attempts: 0}", "retry: {max_age: 0s}", "misfire: {max: 0}", "misfire: {policy: FIRE_ALL, rate: 0}",
		"misfire: {policy: FIRE_ALL, rate: 0.0}", "misfire: {window: 0s}", "misfire: {tolerance: 0s}",
		`pool: ""`, `type: ""`, `on_resume: ""`, `timeout: ""`, `misfire: {policy: ""}`, `retry: {base: ""}`,
	} {
		_, err := Parse("jobs.yaml", []byte("job: a\nschedule: {every: 1h}\ntarget: {log: {}}\n"+line+"\n"), noon)
		var faults Faults
		if !errors.As(err, &faults) || len(faults) != 1 || faults[0].Err.Line != 4 || faults[0].Err.Fix == "" || faults[0].Err.Code != job.CodeInvalid {
			t.Errorf("%s gives %v", line, err)
		}
	}
	for _, line := range []string{"timeout:", "pool: ~", `description: ""`, "misfire: {policy: FIRE_ALL, rate: 0.5}"} {
		if _, err := Parse("jobs.yaml", []byte("job: a\nschedule: {every: 1h}\ntarget: {log: {}}\n"+line+"\n"), noon); err != nil {
			t.Errorf("%s gives %v", line, err)
		}
	}
}
