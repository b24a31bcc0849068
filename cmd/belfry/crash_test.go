package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// devProcess is a running `belfry dev`.
type devProcess struct {
	*exec.Cmd
	url    string
	stderr bytes.Buffer
}

// startDev starts the program on a data folder and returns once it is ready.
func startDev(t *testing.T, data string, args ...string) *devProcess {
	t.Helper()
	p := &devProcess{Cmd: exec.Command(binary, append([]string{"dev", "--data", data, "--listen", "127.0.0.1:0", "--aws-listen", "127.0.0.1:0", "--log-level", "warn"}, args...)...)}
	p.Cmd.Stderr = &p.stderr
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Process.Kill() // already gone after an orderly end
		_ = p.Wait()
		if t.Failed() {
			t.Logf("belfry dev said:\n%.4000s", p.stderr.String())
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("not ready: %v\n%s", err, p.stderr.String())
	}
	url, found := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	if !found {
		t.Fatalf("the first line is %q", line)
	}
	p.url = url
	return p
}

func (p *devProcess) client(t *testing.T) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{BaseURL: p.url, Wait: wait, Spread: func() float64 { return 0.5 }})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// call is one webhook that arrived.
type call struct {
	path  string
	id    string
	token int64
	due   time.Time
	at    time.Time
}

// receiver is an HTTP server that webhooks are sent to. Calls to /held wait
// until release, the first time that each execution comes.
type receiver struct {
	*httptest.Server
	arrived chan call
	release chan struct{}
	mu      sync.Mutex
	known   map[string]bool
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{arrived: make(chan call, 10_000), release: make(chan struct{}), known: map[string]bool{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		at := time.Now()
		_, _ = io.Copy(io.Discard, req.Body)
		token, _ := strconv.ParseInt(req.Header.Get("Belfry-Fencing-Token"), 10, 64)
		due, _ := time.Parse(time.RFC3339, req.Header.Get("Belfry-Scheduled-Time"))
		c := call{path: req.URL.Path, id: req.Header.Get("Belfry-Execution-Id"), token: token, due: due, at: at}
		r.arrived <- c
		r.mu.Lock()
		first := !r.known[c.id]
		r.known[c.id] = true
		r.mu.Unlock()
		if c.path == "/held" && first {
			select {
			case <-r.release:
			case <-req.Context().Done():
			}
		}
	}))
	t.Cleanup(func() {
		close(r.release)
		r.Close()
	})
	return r
}

// next waits for the next call.
func (r *receiver) next(t *testing.T, within time.Duration) call {
	t.Helper()
	select {
	case c := <-r.arrived:
		return c
	case <-time.After(within):
		t.Fatalf("no webhook within %s", within)
		return call{}
	}
}

const (
	runningJobs = 50
	waitingJobs = 500
)

func TestKill9WithFiftyRunningAndFiveHundredWaitingLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute of real time; part of make test")
	}
	r := newReceiver(t)
	data := t.TempDir()
	first := startDev(t, data)
	due := time.Now().Add(20 * time.Second).Truncate(time.Second)
	putJobs(t, first.client(t), r, due)
	tokens := map[string]int64{}
	for len(tokens) < runningJobs {
		if c := r.next(t, 20*time.Second); c.path == "/held" {
			tokens[c.id] = c.token
		}
	}
	if !time.Now().Before(due) {
		t.Fatal("this machine is too slow: the waiting executions have begun before the kill")
	}
	if err := first.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // killed
	second := startDev(t, data)

	quick := map[string]int{}
	for again := 0; len(quick) < waitingJobs || again < runningJobs; {
		c := r.next(t, 60*time.Second)
		if c.at.Before(c.due) {
			t.Errorf("%s began at %s, before its time %s", c.id, c.at, c.due)
		}
		if c.path == "/quick" {
			quick[c.id]++
			continue
		}
		if c.token <= tokens[c.id] {
			t.Errorf("%s ran again under token %d, after %d", c.id, c.token, tokens[c.id])
		}
		again++
	}
	for id, times := range quick {
		if times != 1 {
			t.Errorf("%s ran %d times", id, times)
		}
	}
	checkAllSucceeded(t, second.client(t))
	stopDev(t, second)
}

// putJobs makes the jobs that wait until due, and those that run at once.
func putJobs(t *testing.T, api *client.Client, r *receiver, due time.Time) {
	t.Helper()
	put := func(name, path string, schedule job.Schedule) {
		t.Helper()
		d := job.Definition{Job: name, Schedule: schedule, Target: job.Target{Webhook: &job.Webhook{URL: r.URL + path}}}
		if _, err := api.PutJob(t.Context(), d, client.PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range waitingJobs {
		put(fmt.Sprintf("waiting-%03d", i), "/quick", job.Schedule{At: due})
	}
	for i := range runningJobs {
		name := fmt.Sprintf("running-%02d", i)
		put(name, "/held", job.Schedule{At: time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)})
		if _, err := api.RunJob(t.Context(), name, ""); err != nil {
			t.Fatal(err)
		}
	}
}

// checkAllSucceeded waits until every execution has succeeded; the settle of
// the last webhook may still be under way.
func checkAllSucceeded(t *testing.T, api *client.Client) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		succeeded := 0
		others := map[string]string{}
		for i := range waitingJobs + runningJobs {
			name := fmt.Sprintf("waiting-%03d", i)
			if i >= waitingJobs {
				name = fmt.Sprintf("running-%02d", i-waitingJobs)
			}
			page, err := api.Executions(t.Context(), client.ExecutionQuery{Job: name, Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			if len(page.Items) == 1 && page.Items[0].Status == job.Succeeded {
				succeeded++
			} else {
				others[name] = fmt.Sprintf("%+v", page.Items)
			}
		}
		if succeeded == waitingJobs+runningJobs {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d succeeded; the others: %.2000v", succeeded, others)
		}
	}
}

// stopDev ends the program as a person does, and expects an orderly end.
func stopDev(t *testing.T, p *devProcess) {
	t.Helper()
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("the program ended with %v", err)
	}
}
