//go:build stack

package localstack

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// keptTicking waits for executions that only two later ticks can have made, since
// the put makes all within the horizon, and holds the whole row against the
// schedule: through the redeployment, too.
func (w town) keptTicking(ctx context.Context, name string) {
	w.Helper()
	about, err := w.api.Job(ctx, name)
	if err != nil {
		w.Fatal(err)
	}
	w.ranInTime(ctx, name, func(ran []client.Execution) bool {
		ticks, last := 0, about.CreatedAt.Time
		for _, e := range ran {
			if e.CreatedAt.Sub(last) > apart {
				ticks, last = ticks+1, e.CreatedAt.Time
			}
		}
		return ticks >= 2
	})
}

// apart is more than one pass over a job takes and less than what lies between
// two ticks. The first tick may follow the put at once; it then does not count.
const apart = 10 * time.Second

// step carries out one of the steps that an operator has.
func (w town) step(ctx context.Context, name string, environment ...string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	var said bytes.Buffer
	step := exec.CommandContext(ctx, "./stack", name)
	step.Env = append(os.Environ(), environment...)
	step.Stdout, step.Stderr = &said, &said
	step.Cancel = func() error { return step.Process.Signal(os.Interrupt) }
	step.WaitDelay = 30 * time.Second
	if err := step.Run(); err != nil {
		w.Fatalf("%s: %v\n%s", name, err, said.String())
	}
}

// redeployed deploys the stacks again with another version.
func (w town) redeployed(ctx context.Context) {
	w.Helper()
	version := "redeployed" + w.suffix
	w.change.from = time.Now()
	defer func() { w.change.to = time.Now() }()
	w.step(ctx, "deploy", "VERSION="+version)
	w.until(ctx, "the API answers as "+version, func() bool {
		health, err := w.api.Health(ctx)
		return err == nil && health.Version == version
	})
}

// takenOver runs an execution in a container worker, kills that worker, and sees
// another finish the execution.
func (w town) takenOver(ctx context.Context) {
	w.Helper()
	name := w.put(ctx, job.Definition{Job: "long", Schedule: job.Schedule{Every: job.Duration(time.Hour)}, Paused: true,
		Pool: "long-running", Target: w.hook("/endless"), Timeout: job.Duration(10 * time.Minute)})
	run, err := w.api.RunJob(ctx, name, "")
	if err != nil {
		w.Fatal(err)
	}
	first := w.worker()
	w.until(ctx, "the first worker takes "+run.ID, func() bool { return len(w.receiver.of(name)[run.ID]) > 0 })
	first.well(w.T)
	second := w.worker()
	first.kill(w.T)
	killed := time.Now()
	var e client.Execution
	w.until(ctx, "the other worker finishes "+run.ID, func() bool {
		if e, err = w.api.Execution(ctx, run.ID); err != nil {
			w.Fatal(err)
		}
		return e.Status == job.Succeeded
	})
	w.Logf("%s is %s, %s after its first worker was killed: attempts %d, lost %d", e.ID, e.Status, time.Since(killed).Round(time.Second), e.Attempt, e.Lost)
	got := w.receiver.of(name)[run.ID]
	if len(got) != 2 || e.Lost != 1 || e.Attempt != 2 {
		w.Fatalf("%d deliveries, %d attempts, %d lost; want 2, 2 and 1: %+v", len(got), e.Attempt, e.Lost, got)
	}
	if got[1].token <= got[0].token || got[1].key != got[0].key || e.FencingToken == nil || *e.FencingToken != got[1].token {
		w.Errorf("taken over as %+v after %+v; want a higher token, under which it was settled, and the same key", got[1], got[0])
	}
	second.well(w.T)
}
