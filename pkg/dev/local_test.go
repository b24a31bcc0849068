package dev

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// start runs the process on free ports of 127.0.0.2, a loopback address that is
// none of the usual names.
func start(t *testing.T, change ...func(*Options)) URLs {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ready, done := make(chan URLs, 1), make(chan error, 1)
	o := Options{Data: t.TempDir(), Listen: "127.0.0.2:0", AWSListen: "127.0.0.2:0", Version: "1", Entropy: rand.Reader,
		Ready: func(_ context.Context, urls URLs) error { ready <- urls; return nil }}
	for _, c := range change {
		c(&o)
	}
	go func() { done <- Run(ctx, o) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
	select {
	case urls := <-ready:
		return urls
	case err := <-done:
		done <- err
		t.Fatalf("it did not start: %v", err)
		return URLs{}
	}
}

// ask sends one request under a Host of its own and tells the status.
func ask(t *testing.T, base, path, host, headers, body string) int {
	t.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	_, err = fmt.Fprintf(connection, "POST %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Length: %d\r\n%s\r\n%s", path, host, len(body), headers, body)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	return answer.StatusCode
}

func TestNoWebPageReachesTheProcess(t *testing.T) {
	urls := start(t)
	rows := map[string]struct {
		host, headers string
		aws, api      int
	}{
		"the address it listens on":        {strings.TrimPrefix(urls.AWS, "http://"), "", 200, 404},
		"127.0.0.1":                        {"127.0.0.1:8421", "", 200, 404},
		"localhost":                        {"LocalHost", "", 200, 404},
		"IPv6":                             {"[::1]:8421", "", 200, 404},
		"a page of its own":                {"127.0.0.1:8421", "Origin: http://127.0.0.1:8421\r\n", 200, 404},
		"a name that means loopback":       {"evil.example:8421", "", 421, 421},
		"a name that begins as an address": {"127.0.0.1.evil.example", "", 421, 421},
		"a page of another origin":         {"127.0.0.1:8421", "Origin: http://evil.example\r\n", 403, 403},
		"a page without origin":            {"127.0.0.1:8421", "Origin: null\r\n", 403, 403},
		"a browser's word":                 {"127.0.0.1:8421", "Sec-Fetch-Site: cross-site\r\n", 403, 403},
	}
	for name, row := range rows {
		const list = "X-Amz-Target: DynamoDB_20120810.ListTables\r\nContent-Type: application/x-amz-json-1.0\r\n"
		if got := ask(t, urls.AWS, "/", row.host, list+row.headers, "{}"); got != row.aws {
			t.Errorf("%s: the AWS endpoint answers %d, want %d", name, got, row.aws)
		}
		if got := ask(t, urls.API, "/v1/jobs/none/pause", row.host, row.headers, ""); got != row.api {
			t.Errorf("%s: the API answers %d, want %d", name, got, row.api)
		}
	}
}

func TestWhatKeepsItFromStartingIsToldWithWhatToDo(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	folder := t.TempDir()
	file, torn, badKey := filepath.Join(folder, "file"), filepath.Join(folder, "torn"), filepath.Join(folder, "key")
	write := func(path, text string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write(file, "no folder")
	write(filepath.Join(torn, "aws.db"), strings.Repeat("no database", 1000))
	write(filepath.Join(badKey, "webhook-secret"), "whsec_!\n")
	rows := map[string]struct {
		change     func(*Options)
		field, fix string
	}{
		"a port in use":                      {func(o *Options) { o.Listen = taken.Addr().String() }, "--listen", "stop what listens there"},
		"a port that is none":                {func(o *Options) { o.AWSListen = "127.0.0.1:99999" }, "--aws-listen", "from 0 to 65535"},
		"no folder at all":                   {func(o *Options) { o.Data = "" }, "--data", "name a folder"},
		"a file for a folder":                {func(o *Options) { o.Data = file }, "--data", "that you may write to"},
		"a torn database":                    {func(o *Options) { o.Data = torn }, "--data", "move it away"},
		"a broken secret":                    {func(o *Options) { o.Data = badKey }, "webhook-secret", "delete the file"},
		"a broken secret in the environment": {func(o *Options) { o.WebhookSecret = "whsec_!" }, "BELFRY_WEBHOOK_SECRET", "change the variable"},
	}
	for name, row := range rows {
		o := Options{Data: t.TempDir(), Listen: "127.0.0.1:0", AWSListen: "127.0.0.1:0", Entropy: rand.Reader}
		row.change(&o)
		var known *job.Error
		if err := Run(t.Context(), o); !errors.As(err, &known) || known.Field != row.field || !strings.Contains(known.Fix, row.fix) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
