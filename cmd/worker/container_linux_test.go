package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// nobody is the user of the image.
const nobody = 65532

// unpack lays an image's files out as a container engine would.
func unpack(t *testing.T, p picture) string {
	t.Helper()
	root := t.TempDir()
	// Folders of the test are closed to other users.
	for at := root; at != os.TempDir() && at != "/"; at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, layer := range p.layers {
		for name, e := range layer {
			path := filepath.Join(root, name)
			if strings.HasSuffix(name, "/") {
				continue
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, e.content, os.FileMode(e.Mode)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Chmod(root, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(root, 0o755) }) // so that it can be removed
	return root
}

// confined is the image's entry point, in a process whose root is the unpacked
// image and whose user is nobody's. What an engine would do beside that (name
// spaces, seccomp, limits, a mount that nothing can write to) needs an engine;
// here nothing is writable because nothing belongs to that user. Without root's
// rights the kernel lends them in a user name space, where the files do belong to
// the mapped user, and only their modes keep them from being written.
func confined(root string, p picture, vars map[string]string, args ...string) *exec.Cmd {
	command := exec.Command(p.config.Config.Entrypoint[0], args...)
	command.Dir = p.config.Config.WorkingDir
	for name, value := range vars {
		command.Env = append(command.Env, name+"="+value)
	}
	command.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 {
		command.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		return command
	}
	command.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
	command.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Geteuid(), Size: 1}}
	command.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Getegid(), Size: 1}}
	return command
}

// holds are the paths below root.
func holds(t *testing.T, root string) string {
	t.Helper()
	var names []string
	err := filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			names = append(names, fmt.Sprint(strings.TrimPrefix(path, root), info.Size(), info.ModTime()))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, "\n")
}

// runAsNobody reports whether the kernel shows a process of the image's user,
// at the unpacked root.
func runAsNobody(t *testing.T, pid int, root string) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	user := regexp.MustCompile(`(?m)^Uid:\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)$`).FindStringSubmatch(string(status))
	want := fmt.Sprint(nobody)
	if os.Geteuid() != 0 {
		want = fmt.Sprint(os.Geteuid()) // as seen from outside the name space
	}
	if user == nil || user[1] != want || user[2] != want || user[3] != want || user[4] != want {
		t.Errorf("the process has the users %v, want %s", user, want)
	}
	if at, err := os.Readlink(fmt.Sprintf("/proc/%d/root", pid)); err != nil || at != root {
		t.Errorf("its root is %s, %v; want %s", at, err, root)
	}
}

// cage is a worker that runs out of its image.
type cage struct {
	*exec.Cmd
	image picture
	root  string
	vars  map[string]string
	out   bytes.Buffer
	ended chan error
}

// contain unpacks the image and starts it with the variables of the task
// definition, on the AWS that the test's own environment names.
func contain(t *testing.T) *cage {
	t.Helper()
	p := look(t, pack(t, built(t)))
	c := &cage{image: p, root: unpack(t, p), ended: make(chan error, 1)}
	c.vars = map[string]string{"BELFRY_POOL": "fast-io", "BELFRY_WEBHOOK_ALLOW": "127.0.0.1", "BELFRY_HEALTH": freePort(t)}
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		c.vars[name] = os.Getenv(name)
	}
	c.Cmd = confined(c.root, p, c.vars, "--drain=100s")
	c.Stdout, c.Stderr = &c.out, &c.out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { c.ended <- c.Wait() }()
	return c
}

// well runs the health check of the task definition in the container, and expects
// it to end well and to say the state.
func (c *cage) well(t *testing.T, state string) {
	t.Helper()
	said, err := confined(c.root, c.image, c.vars, "--health").CombinedOutput()
	if err != nil || !strings.Contains(string(said), `"state":"`+state+`"`) {
		t.Errorf("its health check ends with %v: %s; want %s", err, said, state)
	}
}

// ready is what it answers to whoever would send it work.
func (c *cage) ready(t *testing.T) int {
	t.Helper()
	answer, err := http.Get("http://" + c.vars["BELFRY_HEALTH"] + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

func TestTheImageRunsWhatIsQueuedReadOnlyAsNobodyAndDrainsAtSIGTERM(t *testing.T) {
	long(t)
	b := backend(t)
	called, answer := make(chan struct{}), make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(called)
		<-answer
	}))
	defer receiver.Close()
	ref := job.Ref{Tenant: "default", Job: "hook"}
	definition := job.Definition{Job: "hook", Schedule: job.Schedule{Cron: "0 0 1 1 *"}, Target: job.Target{Webhook: &job.Webhook{URL: receiver.URL}}}
	if _, err := b.Control.Put(t.Context(), control.PutRequest{Ref: ref, Definition: definition, Actor: "test"}); err != nil {
		t.Fatal(err)
	}
	e, err := b.Control.RunNow(t.Context(), control.RunRequest{Ref: ref, Actor: "test"})
	if err != nil {
		t.Fatal(err)
	}
	worker := contain(t)
	before := holds(t, worker.root)
	select {
	case <-called: // it takes what is queued, and reaches out
	case err := <-worker.ended:
		t.Fatalf("it ended by itself: %v\n%s", err, worker.out.String())
	}
	runAsNobody(t, worker.Process.Pid, worker.root)
	worker.well(t, "ok")
	if code := worker.ready(t); code != http.StatusOK {
		t.Errorf("at work it answers %d to whether it takes messages, want 200", code)
	}
	if err := worker.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for worker.ready(t) == http.StatusOK { // the signal is on its way
		runtime.Gosched()
	}
	worker.well(t, "draining")
	close(answer)
	if err := <-worker.ended; err != nil {
		t.Fatalf("told to stop it ended with %v, want 0 after the running attempt\n%s", err, worker.out.String())
	}
	after, err := b.Store.Execution(t.Context(), ref, e.Key)
	if err != nil || after.Status != job.Succeeded || after.Attempt != 1 {
		t.Errorf("%v in attempt %d, %v; want the running attempt finished", after.Status, after.Attempt, err)
	}
	for _, part := range []string{`"worker started","pools":["fast-io"]`, `"worker stopped"`} {
		if !strings.Contains(worker.out.String(), part) {
			t.Errorf("%s is not in the log %s", part, worker.out.String())
		}
	}
	if now := holds(t, worker.root); now != before {
		t.Errorf("the image's files changed:\n%s\nbefore:\n%s", now, before)
	}
}
