//go:build stack

package localstack

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// worker starts the container worker as the task definition of its pool says.
func (w town) worker() *process {
	w.Helper()
	container := containerOf(w.T, filepath.Join(told(w.T, "BELFRY_STACK_ROOM"), "assembly", "belfry-workers.template.json"))
	command := exec.Command(filepath.Join("..", "build", "worker", "worker"), container.Command...)
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"} {
		command.Env = append(command.Env, name+"="+told(w.T, name))
	}
	command.Env = append(command.Env, "AWS_ENDPOINT_URL="+told(w.T, "BELFRY_STACK_ENDPOINT"))
	for _, v := range container.Environment {
		if v.Name == "BELFRY_HEALTH" {
			v.Value = freeAddress(w.T) // each container has its own; here they share a machine
		}
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
	return &process{Cmd: command, check: container.HealthCheck.Command}
}

// freeAddress is one of this machine at which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// process is a worker that runs, with the health check of its task definition.
type process struct {
	*exec.Cmd
	check []string
}

// well runs the health check as the platform would.
func (p *process) well(t *testing.T) {
	t.Helper()
	if len(p.check) < 2 || p.check[0] != "CMD" || p.check[1] != "/worker" {
		t.Fatalf("the health check is %q; want the worker's own", p.check)
	}
	check := exec.Command(p.Path, p.check[2:]...)
	check.Env = p.Env
	if said, err := check.CombinedOutput(); err != nil || !strings.Contains(string(said), `"state":"ok"`) {
		t.Errorf("the health check ends with %v: %s", err, said)
	}
}

// container is what a task definition says of its only one.
type container struct {
	Command     []string
	Environment []struct{ Name, Value string }
	HealthCheck struct{ Command []string }
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
