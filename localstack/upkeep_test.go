//go:build stack

package localstack

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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

// redeployed deploys the stacks again with another version, as an operator does.
func (w town) redeployed(ctx context.Context) {
	w.Helper()
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	version := "redeployed" + w.suffix
	var said bytes.Buffer
	deploy := exec.CommandContext(ctx, "./stack", "deploy")
	deploy.Env = append(os.Environ(), "VERSION="+version)
	deploy.Stdout, deploy.Stderr = &said, &said
	deploy.Cancel = func() error { return deploy.Process.Signal(os.Interrupt) }
	deploy.WaitDelay = 30 * time.Second
	if err := deploy.Run(); err != nil {
		w.Fatalf("deploy again: %v\n%s", err, said.String())
	}
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
	second := w.worker()
	if err := first.Process.Kill(); err != nil {
		w.Fatal(err)
	}
	_ = first.Wait()
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
	_ = second
}

// worker starts the container worker as the task definition of its pool says.
func (w town) worker() *exec.Cmd {
	w.Helper()
	container := containerOf(w.T, filepath.Join(told(w.T, "BELFRY_STACK_ROOM"), "assembly", "belfry-workers.template.json"))
	command := exec.Command(filepath.Join("..", "build", "worker", "worker"), container.Command...)
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"} {
		command.Env = append(command.Env, name+"="+told(w.T, name))
	}
	command.Env = append(command.Env, "AWS_ENDPOINT_URL="+told(w.T, "BELFRY_STACK_ENDPOINT"))
	for _, v := range container.Environment {
		command.Env = append(command.Env, v.Name+"="+v.Value)
	}
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	if err := command.Start(); err != nil {
		w.Fatal(err)
	}
	t := w.T
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if t.Failed() {
			t.Logf("a worker said:\n%s", said.String())
		}
	})
	return command
}

// container is what a task definition says of its only one.
type container struct {
	Command     []string
	Environment []struct{ Name, Value string }
}

func containerOf(t *testing.T, template string) container {
	t.Helper()
	text, err := os.ReadFile(template)
	if err != nil {
		t.Fatal(err)
	}
	var stack struct {
		Resources map[string]struct {
			Type       string
			Properties json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &stack); err != nil {
		t.Fatal(err)
	}
	for id, resource := range stack.Resources {
		if resource.Type != "AWS::ECS::TaskDefinition" || !strings.Contains(string(resource.Properties), "long-running") {
			continue
		}
		var task struct{ ContainerDefinitions []json.RawMessage }
		if err := json.Unmarshal(resource.Properties, &task); err != nil || len(task.ContainerDefinitions) != 1 {
			t.Fatalf("%s: %v, %d containers; want one", id, err, len(task.ContainerDefinitions))
		}
		var only container
		if err := json.Unmarshal(task.ContainerDefinitions[0], &only); err != nil {
			t.Fatalf("%s tells its worker what only an account can resolve: %v", id, err)
		}
		return only
	}
	t.Fatalf("%s has no task definition of the pool long-running", template)
	return container{}
}
