package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/httpapi"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
)

var update = flag.Bool("update", false, "write the golden files anew")

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "belfry")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "belfry")
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-X main.version=1.2.3", "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v\n%s", err, out))
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// noon is the service's clock. The program's own clock only says how far times
// lie away, which the golden files leave out.
var noon = time.Date(2026, 7, 12, 12, 0, 0, 1_999_999, time.UTC)

type stopped struct{}

func (stopped) Now() time.Time                              { return noon }
func (stopped) Wait(ctx context.Context, _ time.Time) error { return ctx.Err() }

type reconciler struct{}

// It takes two calls.
func (reconciler) Reconcile(_ context.Context, start string) (job.Reconciled, error) {
	if start == "" {
		return job.Reconciled{Scanned: 8, Sent: 1, Next: "there"}, nil
	}
	return job.Reconciled{Scanned: 4, Sent: 2}, nil
}

// backlogs has one shard of four behind.
type backlogs struct{}

func (backlogs) Backlogs(context.Context) ([]job.Layout, []job.Backlog, error) {
	return []job.Layout{{Generation: 1, Shards: 4}}, []job.Backlog{{Shard: job.Shard{Generation: 1, Number: 2}, Jobs: 100, More: true,
		Oldest: job.Ref{Tenant: job.DefaultTenant, Job: "nightly"}, Since: noon.Add(-90 * time.Second)}}, nil
}

// restorer needs a second step, too.
type restorer struct{ steps *int }

func (r restorer) Step(context.Context, string) (job.RestoreProgress, error) {
	if *r.steps++; *r.steps == 1 {
		return job.RestoreProgress{Phase: job.RestoreExecutions, Executions: 250}, nil
	}
	return job.RestoreProgress{Phase: job.RestoreDone, Executions: 400, Rearmed: 12, Withdrawn: 3, GivenUp: 1, Jobs: 40, Lifted: 40, SetBack: 2, BegunAt: noon, DoneAt: noon}, nil
}

// service is a whole control plane in memory, behind its HTTP API.
func service(t *testing.T) string {
	t.Helper()
	belfry := assembled(t)
	server := httptest.NewServer(httpapi.New(belfry.Control, httpapi.Options{Version: "1.2.3", Reconciler: reconciler{}, Backlogs: backlogs{}, Restorer: restorer{new(int)}}))
	t.Cleanup(server.Close)
	return server.URL
}

// assembled is all planes over a backend in memory.
func assembled(t *testing.T) *assemble.Belfry {
	t.Helper()
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	clients := assemble.Clients{DynamoDB: dynamodb.NewFromConfig(backend.Config()), SQS: sqs.NewFromConfig(backend.Config())}
	belfry := assemble.New(clients, assemble.Settings{Clock: stopped{}, Shards: 4})
	if err := belfry.Ensure(t.Context(), clients); err != nil {
		t.Fatal(err)
	}
	return belfry
}

// outcome is what one command line gave.
type outcome struct {
	out, err string
	code     int
}

// belfry runs the program. "{…}" words in args are replaced by ids that earlier
// runs printed.
func belfry(t *testing.T, url, stdin string, args ...string) outcome {
	t.Helper()
	command := exec.CommandContext(t.Context(), binary, args...)
	command.Env = []string{"BELFRY_URL=" + url, "TZ=UTC", "HOME=" + t.TempDir()}
	command.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{out: out.String(), err: errs.String(), code: command.ProcessState.ExitCode()}
}

var (
	distances = regexp.MustCompile(`\((in|now|\d+ (ms|s|min|h|d)).*?\)`)
	columns   = regexp.MustCompile(`(?m)  (in \d+ [a-z]+( \d+ [a-z]+)?|\d+ [a-z]+( \d+ [a-z]+)? ago)( |$)`)
	gaps      = regexp.MustCompile(`   +`)
	ulids     = regexp.MustCompile(`~m-[0-9A-HJKMNP-TV-Z]{26}~`)
	serials   = regexp.MustCompile(`\b01[0-9A-HJKMNP-TV-Z]{24}\b`)
	ports     = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	builds    = regexp.MustCompile(`go1\.[0-9.]+|linux/\w+|darwin/\w+|20\d\d[a-z]\b`)
)

// steady is text without what differs from run to run.
func steady(text string) string {
	text = distances.ReplaceAllString(text, "(…)")
	text = gaps.ReplaceAllString(columns.ReplaceAllString(text, "  …$4"), "  ")
	text = ulids.ReplaceAllString(text, "~m-ULID~")
	text = serials.ReplaceAllString(text, "ULID")
	text = ports.ReplaceAllString(text, "http://API")
	return builds.ReplaceAllString(text, "BUILD")
}

// golden compares an outcome with the file of that name.
func golden(t *testing.T, name string, got outcome) {
	t.Helper()
	text := fmt.Sprintf("exit code %d\n-- stdout --\n%s-- stderr --\n%s", got.code, steady(got.out), steady(got.err))
	path := filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, text, want)
	}
}

const jobsFile = `job: nightly
schedule: {cron: "30 3 * * *", zone: Europe/Berlin}
target: {log: {message: night}}
description: every night
---
job: often
schedule: {every: 10s}
target: {webhook: {url: "https://example.com/hook"}}
---
job: asleep
schedule: {every: 1h}
target: {handler: {name: sleeper}}
paused: true
`

func TestWithoutAService(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name  string
		stdin string
		args  []string
	}{
		{"nobody answers", "", []string{"jobs", "list"}},
		{"nobody answers as JSON", "", []string{"health", "--json"}},
		{"a URL that is none", "", []string{"health", "--url", "localhost"}},
		{"traces to what is no URL", "", []string{"dev", "--traces", "localhost:4317"}},
		{"an account without a region", "", []string{"dev", "--aws"}},
		{"pools that no deployment takes", "pools:\n- name: fast-io\n  ceiling: 15m\n- name: reports\n  slots: many\n", []string{"dev", "--pools", "-"}},
		{"pools that no deployment takes as JSON", "pools:\n- name: fast-io\n  colour: red\n", []string{"dev", "--pools", "-", "--json"}},
		{"pools of a file that is not there", "", []string{"dev", "--pools", "nowhere.yaml"}},
		{"help", "", []string{"--help"}},
		{"help for a verb", "", []string{"executions", "list", "--help"}},
		{"a command that is none", "", []string{"jobs", "lst"}},
		{"a noun that is none", "", []string{"job-list"}},
		{"a flag that is none", "", []string{"jobs", "list", "--limits", "3", "--json"}},
		{"an argument that is missing", "", []string{"executions", "get"}},
		{"an argument too many", "", []string{"jobs", "get", "a", "b"}},
		{"a limit out of bounds", "", []string{"jobs", "list", "--limit", "0"}},
		{"all and a limit", "", []string{"jobs", "list", "--all", "--limit", "3"}},
		{"a status that is none", "", []string{"executions", "list", "--status", "READY"}},
		{"the version", "", []string{"version"}},
		{"a backfill without a beginning", "", []string{"backfill", "nightly"}},
		{"a backfill at no rate", "", []string{"backfill", "nightly", "--from", "2026-07-01T00:00:00Z", "--rate", "2/d"}},
		{"a backfill at a rate of nothing", "", []string{"backfill", "nightly", "--from", "2026-07-01T00:00:00Z", "--rate", "0"}},
		{"a backfill from a date", "", []string{"backfill", "nightly", "--from", "2026-07-01", "--json"}},
		{"help for backfills", "", []string{"backfill", "--help"}},
		{"applying nothing", "", []string{"apply"}},
		{"applying a file that is not there", "", []string{"apply", "-f", "nowhere.yaml"}},
		{"applying a file with faults", "job: a\nschedul: {every: 1s}\ntimeout: 3\n---\njob: b\nschedule: {cron: 61 * * * *}\ntarget: {log: {}}\n", []string{"apply", "-f", "-"}},
		{"applying a file with faults as JSON", "job: a\nschedule: {every: 1s}\ntarget: {log: {}}\njitter: 3s\npool: 3\n", []string{"apply", "-f", "-", "--json"}},
		{"a job given twice", "job: a\nschedule: {every: 1s}\ntarget: {log: {}}\n---\njob: a\nschedule: {every: 1s}\ntarget: {log: {}}\n", []string{"apply", "-f", "-"}},
		{"a schedule", "", []string{"schedule", "next", "30 2 * * *", "--zone", "Europe/Berlin", "--after", "2026-03-28T00:00:00Z", "--count", "2"}},
		{"a schedule as JSON", "", []string{"schedule", "next", "30 2 * * *", "--zone", "Europe/Berlin", "--after", "2026-03-28T00:00:00Z", "--count", "2", "--json"}},
		{"an interval", "", []string{"schedule", "next", "--every", "90s", "--after", "2026-03-28T00:00:00Z", "--count", "2", "--json"}},
		{"one time that has passed", "", []string{"schedule", "next", "--at", "2026-03-27T00:00:00Z", "--after", "2026-03-28T00:00:00Z"}},
		{"a schedule that is none", "", []string{"schedule", "next", "61 * * * *", "--json"}},
		{"an expression without quotes", "", []string{"schedule", "next", "30", "2", "*", "*", "*"}},
		{"two kinds of schedule", "", []string{"schedule", "next", "30 2 * * *", "--every", "3s"}},
		{"questions by line", `{"id":"a","dialect":"unix","expr":"30 2 * * *","zone":"Europe/Berlin","after":"2026-03-28T12:00:00Z","count":1}` + "\nnonsense\n", []string{"schedule", "next", "--jsonl"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			golden(t, "offline "+row.name, belfry(t, "http://127.0.0.1:1", row.stdin, row.args...))
		})
	}
}

func TestApplyWritesNothingWhenTheServiceRefusesOneJob(t *testing.T) {
	t.Parallel()
	url := service(t)
	file := jobsFile + "---\njob: unpooled\nschedule: {every: 1h}\ntarget: {log: {}}\n\npool: nowhere\n"
	golden(t, "apply a pool that only the service knows not to be", belfry(t, url, file, "apply", "-f", "-"))
	if got := belfry(t, url, "", "jobs", "list", "--json"); got.out != `{"items":[],"next_cursor":null}`+"\n" {
		t.Errorf("jobs were written: %s", got.out)
	}
}

func TestApplyTellsTheFaultsOfTheFileAndOfTheServiceTogether(t *testing.T) {
	t.Parallel()
	url := service(t)
	const fine, wrong = "schedule: {every: 1h}\ntarget: {log: {}}\n", "schedule: {every: soon}\ntarget: {log: {}}\n"
	file := "job: a\n" + fine + "pool: nowhere\n---\njob: b\n" + wrong + "---\njob: c\n" + fine + "---\njob: d\n" + fine + "pool: elsewhere\n"
	golden(t, "apply faults of the file and of the service", belfry(t, url, file, "apply", "-f", "-"))
	if got := belfry(t, url, "", "jobs", "list", "--json"); got.out != `{"items":[],"next_cursor":null}`+"\n" {
		t.Errorf("jobs were written: %s", got.out)
	}
}

func TestApplyReadsDirectoriesAndTellsTheFileOfEachFault(t *testing.T) {
	t.Parallel()
	url, dir := service(t), t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("b.yml", "job: b\nschedule: {every: 1h}\ntarget: {log: {}}\n")
	write("a.yaml", "job: a\nschedule: {every: 1h}\ntarget: {log: {}}\n")
	write("notes.txt", "not a job")
	if got := belfry(t, url, "", "apply", "-f", dir); got.code != 0 || !strings.HasPrefix(got.out, "created  a  ") || !strings.Contains(got.out, "\ncreated  b  ") || strings.Count(got.out, "\n") != 2 {
		t.Errorf("%+v", got)
	}
	write("c.yaml", "job: b\nschedule: {every: 1h}\ntarget: {log: {}}\n")
	want := filepath.Join(dir, "c.yaml") + `:1: job: job "b" is given twice, first at ` + filepath.Join(dir, "b.yml") + ":1"
	if got := belfry(t, url, "", "apply", "-f", dir); got.code != exitRefused || !strings.HasPrefix(got.err, want) {
		t.Errorf("%+v", got)
	}
}

func TestAllReadsEveryPage(t *testing.T) {
	t.Parallel()
	url := service(t)
	var file strings.Builder
	for i := range 120 {
		fmt.Fprintf(&file, "---\njob: j%03d\nschedule: {every: 1d}\ntarget: {log: {}}\n", i)
	}
	if got := belfry(t, url, file.String(), "apply", "-f", "-"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	for args, want := range map[string]int{"": 100, "--all": 120, "--limit 110": 110, "--limit 5000": 120} {
		got := belfry(t, url, "", append([]string{"jobs", "list", "--json"}, strings.Fields(args)...)...)
		if n := strings.Count(got.out, `"job":"j`); n != want || strings.Contains(got.out, `"next_cursor":null`) != (want == 120) {
			t.Errorf("with %q %d jobs are listed, want %d", args, n, want)
		}
	}
}

func TestTheExampleFilesAreTakenAsTheyAre(t *testing.T) {
	t.Parallel()
	for file, holds := range map[string]string{"jobs.yaml": "every-ten-seconds", "calendars.yaml": "calendar office-hours created"} {
		url, path := service(t), filepath.Join("..", "..", "examples", file)
		got := belfry(t, url, "", "apply", "-f", path)
		if got.code != 0 || got.err != "" || strings.Count(got.out, "created") != strings.Count(got.out, "\n") || !strings.Contains(got.out, holds) {
			t.Errorf("%s: %+v", file, got)
		}
		if again := belfry(t, url, "", "apply", "-f", path); strings.Count(again.out, "unchanged") != strings.Count(got.out, "\n") {
			t.Errorf("%s again: %+v", file, again)
		}
	}
}

func TestACommandThatWaitsGivesASignOfLife(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
		fmt.Fprint(w, `{"status":"ok"}`)
	}))
	defer slow.Close()
	command := exec.CommandContext(t.Context(), binary, "health")
	command.Env = []string{"BELFRY_URL=" + slow.URL}
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 256)
	n, _ := stderr.Read(line)
	close(release)
	if got := steady(string(line[:n])); got != "… waiting for http://API (2s)\n" {
		t.Errorf("got %q", got)
	}
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
}

func TestCompletionOffersTheNamesOfJobs(t *testing.T) {
	t.Parallel()
	url := service(t)
	belfry(t, url, jobsFile, "apply", "-f", "-")
	if got := belfry(t, url, "", "__complete", "jobs", "pause", ""); got.out != "asleep\nnightly\noften\n:4\n" {
		t.Errorf("%q", got.out)
	}
	if got := belfry(t, url, "", "completion", "bash"); got.code != 0 || !strings.Contains(got.out, "belfry") {
		t.Errorf("%+v", got)
	}
}
