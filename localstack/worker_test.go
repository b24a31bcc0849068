//go:build stack

package localstack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// worker starts the container worker that ships.
func (w town) worker() *process {
	w.Helper()
	return w.start(filepath.Join("..", "build", "worker", "worker"), "long-running")
}

// start runs a container worker as the task definition of its pool says.
func (w town) start(program, pool string) *process {
	w.Helper()
	container := containerOf(w.T, pool)
	command := exec.Command(program, container.Command...)
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"} {
		command.Env = append(command.Env, name+"="+told(w.T, name))
	}
	command.Env = append(command.Env, "AWS_ENDPOINT_URL="+told(w.T, "BELFRY_STACK_ENDPOINT"))
	for _, v := range container.Environment {
		if v.Name == "BELFRY_HEALTH" {
			v.Value = text(freeAddress(w.T)) // each container has its own; here they share a machine
		}
		command.Env = append(command.Env, v.Name+"="+string(v.Value))
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

// kill ends the worker as the loss of its machine would.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait()
}

// container is what a task definition says of its only one.
type container struct {
	Command     []string
	Environment []variable
	HealthCheck struct{ Command []string }
}

type variable struct {
	Name  string
	Value text
}

// of is the value of a variable; empty when it is not there.
func (c container) of(name string) string {
	for _, v := range c.Environment {
		if v.Name == name {
			return string(v.Value)
		}
	}
	return ""
}

// text is a text in a template, also one that is made of the emulator's account
// and region.
type text string

// UnmarshalJSON resolves what the platform would.
func (t *text) UnmarshalJSON(raw []byte) error {
	var plain string
	if json.Unmarshal(raw, &plain) == nil {
		*t = text(plain)
		return nil
	}
	var made struct {
		Ref  string
		Join []json.RawMessage `json:"Fn::Join"`
	}
	if err := json.Unmarshal(raw, &made); err != nil {
		return err
	}
	known := map[string]text{"AWS::AccountId": "000000000000", "AWS::Region": text(os.Getenv("AWS_REGION"))}
	var parts []text
	switch value, found := known[made.Ref]; {
	case found:
		*t = value
	case len(made.Join) == 2 && string(made.Join[0]) == `""` && json.Unmarshal(made.Join[1], &parts) == nil:
		for _, part := range parts {
			*t += part
		}
	default:
		return fmt.Errorf("only an account can resolve %s", raw)
	}
	return nil
}

// containerOf is what the synthesized task definition of a pool says.
func containerOf(t *testing.T, pool string) container {
	t.Helper()
	var stack struct {
		Resources map[string]struct {
			Type       string
			Properties json.RawMessage
		}
	}
	template := read(t, filepath.Join(told(t, "BELFRY_STACK_ROOM"), "assembly", "belfry-workers.template.json"))
	if err := json.Unmarshal([]byte(template), &stack); err != nil {
		t.Fatal(err)
	}
	for id, resource := range stack.Resources {
		if resource.Type != "AWS::ECS::TaskDefinition" {
			continue
		}
		var task struct{ ContainerDefinitions []container }
		if err := json.Unmarshal(resource.Properties, &task); err != nil || len(task.ContainerDefinitions) != 1 {
			t.Fatalf("%s: %v, %d containers; want one", id, err, len(task.ContainerDefinitions))
		}
		if only := task.ContainerDefinitions[0]; only.of("BELFRY_POOL") == pool {
			return only
		}
	}
	t.Fatalf("no task definition is of the pool %s", pool)
	return container{}
}
