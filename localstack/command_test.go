//go:build stack

package localstack

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// door is a proxy that reaches the emulator under the names that it gives to
// APIs, for programs that can be told no other way to, and remembers how what
// came through was signed.
type door struct {
	url    string
	mu     sync.Mutex
	signed []string
}

func (w town) door() *door {
	w.Helper()
	endpoint, err := url.Parse(told(w.T, "BELFRY_STACK_ENDPOINT"))
	if err != nil {
		w.Fatal(err)
	}
	d := &door{}
	through := &httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}, Transport: &http.Transport{DialContext: dialing(endpoint.Host)}}
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		d.signed = append(d.signed, r.Header.Get("Authorization"))
		d.mu.Unlock()
		through.ServeHTTP(answer, r)
	}))
	w.Cleanup(server.Close)
	d.url = server.URL
	return d
}

// command is the program that a person has, signed in as one is told to be.
func (w town) command(ctx context.Context) (run func(args ...string) string, d *door) {
	w.Helper()
	program := filepath.Join(w.TempDir(), "belfry")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", program, "../cmd/belfry").CombinedOutput(); err != nil {
		w.Fatalf("%v\n%s", err, out)
	}
	d = w.door()
	return func(args ...string) string {
		w.Helper()
		command := exec.CommandContext(ctx, program, args...)
		command.Env = append(os.Environ(), "BELFRY_URL="+w.api.URL(), "BELFRY_AUTH=iam", "http_proxy="+d.url, "HTTP_PROXY="+d.url)
		out, err := command.CombinedOutput()
		if err != nil {
			w.Fatalf("belfry %v: %v\n%s", args, err, out)
		}
		return string(out)
	}, d
}

// commanded does at the command line what docs/deploy.md tells a person to do
// first.
func (w town) commanded(ctx context.Context) {
	w.Helper()
	file, name := filepath.Join(w.TempDir(), "jobs.yaml"), "applied"+w.suffix
	if err := os.WriteFile(file, []byte("job: "+name+"\nschedule: {every: 1h}\npaused: true\ntarget: {log: {message: here}}\n"), 0o600); err != nil {
		w.Fatal(err)
	}
	run, d := w.command(ctx)
	run("apply", "-f", file)
	if told := run("jobs", "get", name); !strings.Contains(told, name) {
		w.Errorf("the job that was applied is told as %s", told)
	}
	run("jobs", "delete", name)
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.signed {
		if !strings.HasPrefix(s, "AWS4-HMAC-SHA256 Credential="+told(w.T, "AWS_ACCESS_KEY_ID")+"/") || !strings.Contains(s, "/execute-api/aws4_request") {
			w.Errorf("a call was signed %q", s)
		}
	}
	if len(d.signed) < 4 {
		w.Errorf("%d calls came through; apply asks, then writes, and two more follow", len(d.signed))
	}
}
