package main

import (
	"os"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/cmd/belfry/jobfile"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// TestTheExamplesRetriesCanBeWatched holds the file to its comment: whoever
// resumes the webhook while nothing listens has the time to look.
func TestTheExamplesRetriesCanBeWatched(t *testing.T) {
	t.Parallel()
	const file = "../../examples/jobs.yaml"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	read, err := jobfile.Parse(file, text, noon)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range read.Jobs {
		if e.Definition.Job != "webhook-to-this-machine" {
			continue
		}
		var shortest time.Duration
		for n := 1; n < e.Definition.Retry.MaxAttempts; n++ {
			shortest += lifecycle.Backoff(e.Definition.Retry, n, 0)
		}
		if shortest < 30*time.Second || shortest > 5*time.Minute {
			t.Errorf("it is DEAD after %s at the soonest, want half a minute or more, and an end", shortest)
		}
		return
	}
	t.Errorf("%s has no webhook-to-this-machine", file)
}

// TestTheExamplesHaveAJobForEachKindOfTarget that a job file alone can show: a
// handler needs a program.
func TestTheExamplesHaveAJobForEachKindOfTarget(t *testing.T) {
	t.Parallel()
	shown := map[string]bool{}
	for _, file := range []string{"../../examples/jobs.yaml", "../../examples/targets.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		read, err := jobfile.Parse(file, text, noon)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range read.Jobs {
			shown[e.Definition.Target.Kind()] = true
		}
	}
	for _, kind := range job.TargetKinds {
		if !shown[kind] && kind != "handler" {
			t.Errorf("no example has a target %s", kind)
		}
	}
}
