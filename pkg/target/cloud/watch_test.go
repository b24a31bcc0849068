package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

// wire answers calls of ECS, byte for byte, with the n-th answer of the operation,
// and with its last one from then on.
type wire struct {
	mu      sync.Mutex
	answers map[string][]string
	calls   []string // operations, as they came
	bodies  map[string]map[string]any
	seen    func(operation string)
}

func (w *wire) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	var body map[string]any
	_ = json.NewDecoder(r.Body).Decode(&body)
	w.mu.Lock()
	w.calls = append(w.calls, operation)
	w.bodies[operation] = body
	answer := `{"__type":"AccessDeniedException","message":"not expected"}`
	if list := w.answers[operation]; len(list) > 0 {
		answer = list[0]
		w.answers[operation] = list[min(1, len(list)-1):]
	}
	w.mu.Unlock()
	if strings.Contains(answer, "__type") {
		to.WriteHeader(http.StatusBadRequest)
	}
	fmt.Fprint(to, answer)
	if w.seen != nil {
		w.seen(operation)
	}
}

// did is how often an operation was called.
func (w *wire) did(operation string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(w.calls), func(call string) bool { return call != operation }))
}

// watched runs attempt number of a job that waits for its task.
func watched(ctx context.Context, t *testing.T, w *wire, number int) error {
	t.Helper()
	w.bodies = map[string]map[string]any{}
	server := httptest.NewServer(w)
	defer server.Close()
	config := aws.Config{Region: "eu-west-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("id", "key", "")}
	f := facts(job.Target{ECS: &job.ECSTarget{Wait: true, Cluster: "batch", TaskDefinition: "report", Containers: []job.ContainerOverride{{Name: "main"}}}}, "")
	f.Number = number
	return New(Options{AWS: &config, Clock: clock.System{}, Installation: "belfry"}).run(ctx, workertest.Attempt(f))
}

const (
	runs    = `{"tasks":[{"taskArn":"arn:t"}]}`
	running = `{"tasks":[{"taskArn":"arn:t","lastStatus":"RUNNING"}]}`
)

func told(code, reason, containers string) string {
	return fmt.Sprintf(`{"tasks":[{"taskArn":"arn:t","lastStatus":"STOPPED","stopCode":%q,"stoppedReason":%q,"containers":[%s]}]}`, code, reason, containers)
}

// Reports PB-136: a task that failed to start was marked successful.
func TestPB136OnlyAnExitCodeOfZeroIsSuccess(t *testing.T) {
	const done = "EssentialContainerExited"
	for sentence, row := range map[string]struct{ text, class, code string }{
		"every named container ended with 0": {told(done, "Essential container in task exited", `{"name":"proxy","exitCode":137},{"name":"main","exitCode":0}`), "", ""},
		"an exit code":                       {told(done, "", `{"name":"main","exitCode":3}`), "transient", "ECS_EXIT_3"},
		"killed":                             {told(done, "", `{"name":"main","exitCode":137,"reason":"OutOfMemoryError: Container killed"}`), "transient", "ECS_EXIT_137"},
		"no exit code":                       {told(done, "", `{"name":"main"}`), "transient", CodeTaskNoExit},
		"no such container":                  {told(done, "", `{"name":"proxy","exitCode":0}`), "transient", CodeTaskNoExit},
		"no container at all":                {told(done, "", ``), "transient", CodeTaskNoExit},
		"it never started":                   {told("TaskFailedToStart", "CannotPullContainerError: no such image", `{"name":"main"}`), "transient", "ECS_TASK_FAILED_TO_START"},
		"no room on Fargate":                 {told("TaskFailedToStart", "Capacity is unavailable at this time", `{"name":"main"}`), "transient", CodeTaskNoCapacity},
		"what it needs cannot be had":        {told("TaskFailedToStart", "ResourceInitializationError: unable to pull secrets", ``), "transient", "ECS_TASK_FAILED_TO_START"},
		"a spot instance taken away":         {told("SpotInterruption", "", `{"name":"main","exitCode":0}`), "transient", "ECS_SPOT_INTERRUPTION"},
		"stopped by a person":                {told("UserInitiated", "by me", `{"name":"main","exitCode":0}`), "transient", "ECS_USER_INITIATED"},
		"it may not be looked at":            {refusal("AccessDeniedException", "no"), "uncertain", "ECS_ACCESS_DENIED"},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			w := &wire{answers: map[string][]string{"RunTask": {runs}, "DescribeTasks": {row.text}}}
			f := worker.FailureOf(watched(t.Context(), t, w, 1))
			if f == nil && row.class != "" || f != nil && (string(f.Class) != row.class || f.Code != row.code) || w.did("RunTask") != 1 {
				t.Errorf("%+v after %v; want %s, %s", f, w.calls, row.class, row.code)
			}
		})
	}
}

// Reports PB-135: a task waited for its start for minutes and then did not.
func TestPB135ATaskIsWatchedUntilItHasStopped(t *testing.T) {
	w := &wire{answers: map[string][]string{"RunTask": {runs}, "DescribeTasks": {`{"tasks":[],"failures":[{"reason":"MISSING"}]}`,
		`{"tasks":[{"taskArn":"arn:t","lastStatus":"PROVISIONING"}]}`, refusal("ThrottlingException", "slow down"), told("TaskFailedToStart", "Timeout waiting for network interface", "")}}}
	f := worker.FailureOf(watched(t.Context(), t, w, 1))
	if f == nil || f.Code != "ECS_TASK_FAILED_TO_START" || !strings.Contains(f.Text, "network interface") || w.did("DescribeTasks") != 4 || w.did("RunTask") != 1 {
		t.Errorf("%+v after %v", f, w.calls)
	}
}

func TestAnAttemptThatTakesOverFindsTheTask(t *testing.T) {
	good := told("EssentialContainerExited", "", `{"name":"main","exitCode":0}`)
	for sentence, row := range map[string]struct {
		number  int
		answers map[string][]string
		starts  int
	}{
		"the first one starts it, unasked":           {1, map[string][]string{"RunTask": {runs}, "DescribeTasks": {good}}, 1},
		"a later one finds what runs":                {2, map[string][]string{"ListTasks": {`{"taskArns":["arn:t"]}`}, "DescribeTasks": {good}}, 0},
		"or what has ended, by the start's token":    {2, map[string][]string{"ListTasks": {`{"taskArns":[]}`}, "RunTask": {`{"__type":"ConflictException","message":"in use","resourceIds":["arn:t"]}`}, "DescribeTasks": {good}}, 1},
		"what was stopped at a deadline is replaced": {2, map[string][]string{"ListTasks": {`{"taskArns":["arn:old"]}`}, "RunTask": {runs}, "DescribeTasks": {told("UserInitiated", ours+"x", ""), good}}, -1},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			w := &wire{answers: row.answers}
			if row.starts < 0 {
				w.answers["ListTasks"] = []string{`{"taskArns":["arn:old"]}`, `{"taskArns":[]}`}
				row.starts = 1
			}
			if err := watched(t.Context(), t, w, row.number); err != nil || w.did("RunTask") != row.starts {
				t.Errorf("%v after %v", err, w.calls)
			}
			if by, asked := w.bodies["ListTasks"]["startedBy"].(string); asked && !strings.HasPrefix(by, "belfry/nightly_") {
				t.Errorf("asked for what %q started", by)
			}
		})
	}
}

// Reports PB-119: the attempt of a canceled job went on for ever.
func TestPB119ATaskIsStoppedWithItsExecutionAndOutlivesItsWorker(t *testing.T) {
	for sentence, row := range map[string]struct {
		cause  error
		stop   string // StopTask's answer
		stops  int
		class  string
		reason string
	}{
		"canceled: it is stopped":               {worker.ErrCanceled, `{}`, 1, "transient", ours + "the execution was canceled"}, // which the plane explains
		"canceled, and it cannot be stopped":    {worker.ErrCanceled, refusal("AccessDeniedException", "no"), 4, "uncertain", ""},
		"at its deadline: it is stopped":        {worker.ErrDeadline, `{}`, 1, "transient", ours + "the attempt has reached its timeout"},
		"the worker stops: it goes on":          {errors.New("the worker stops"), `{}`, 0, "transient", ""},
		"another worker has it now: it goes on": {worker.ErrLeaseLost, `{}`, 0, "transient", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			ctx, end := context.WithCancelCause(t.Context())
			w := &wire{answers: map[string][]string{"RunTask": {runs}, "DescribeTasks": {running}, "StopTask": {row.stop}}}
			w.seen = func(operation string) {
				if operation == "DescribeTasks" {
					time.AfterFunc(50*time.Millisecond, func() { end(row.cause) })
				}
			}
			f := worker.FailureOf(watched(ctx, t, w, 1))
			if f == nil || string(f.Class) != row.class || w.did("StopTask") > row.stops || (w.did("StopTask") > 0) != (row.stops > 0) {
				t.Errorf("%+v after %v", f, w.calls)
			}
			if row.reason != "" && w.bodies["StopTask"]["reason"] != row.reason {
				t.Errorf("it was stopped for %q", w.bodies["StopTask"]["reason"])
			}
		})
	}
}
