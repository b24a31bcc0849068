package functions_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/functions"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// mains are what the mains in the folders hand to Main.
var mains = map[string]func(*functions.Installation) (any, error){
	"api":        func(i *functions.Installation) (any, error) { return functions.API(i), nil },
	"tick":       func(i *functions.Installation) (any, error) { return functions.Tick(i), nil },
	"scan":       func(i *functions.Installation) (any, error) { return functions.Scan(i), nil },
	"work":       func(i *functions.Installation) (any, error) { return functions.Work(i) },
	"deadletter": func(i *functions.Installation) (any, error) { return functions.DeadLetter(i) },
	"record":     func(i *functions.Installation) (any, error) { return functions.Record(i), nil },
	"archive":    func(i *functions.Installation) (any, error) { return functions.Archive(i, openRefusing) },
}

const playVariable = "BELFRY_TEST_PLAYS"

// TestMain plays a function's process when it is told so; see start.
func TestMain(m *testing.M) {
	if name := os.Getenv(playVariable); name != "" {
		functions.Main(mains[name])
		return
	}
	os.Exit(m.Run())
}

// start runs a function as a process of its own whose Runtime API is api, with
// the tables and queues of w. It returns what the process said once it ended.
func start(ctx context.Context, t *testing.T, name string, w *town, api string, environment ...string) (output func() string) {
	t.Helper()
	aws := httptest.NewServer(w.backend)
	t.Cleanup(aws.Close)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	process := exec.CommandContext(ctx, self)
	process.Env = append([]string{playVariable + "=" + name, "AWS_LAMBDA_RUNTIME_API=" + strings.TrimPrefix(api, "http://"), "AWS_ENDPOINT_URL=" + aws.URL, "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_EC2_METADATA_DISABLED=true", "HOME=" + t.TempDir()}, environment...)
	var said strings.Builder
	process.Stdout, process.Stderr = &said, &said
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	return func() string {
		err := process.Wait()
		return fmt.Sprint(said.String(), err)
	}
}

// runtimeAPI hands one event out and keeps what the function answers.
func runtimeAPI(t *testing.T, event string) (server *httptest.Server, answers chan string) {
	t.Helper()
	answers = make(chan string, 1)
	first := make(chan struct{}, 1)
	first <- struct{}{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", func(rw http.ResponseWriter, r *http.Request) {
		select {
		case <-first:
		case <-r.Context().Done():
			return
		}
		rw.Header().Set("Lambda-Runtime-Aws-Request-Id", "one")
		rw.Header().Set("Lambda-Runtime-Deadline-Ms", "32503680000000")
		_, _ = io.WriteString(rw, event)
	})
	for path, mark := range map[string]string{"response": "", "error": "error "} {
		mux.HandleFunc("POST /2018-06-01/runtime/invocation/one/"+path, func(rw http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			answers <- mark + string(body)
			rw.WriteHeader(http.StatusAccepted)
		})
	}
	server = httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server, answers
}

func TestEveryFunctionServesTheRuntime(t *testing.T) {
	sqsEvent, _ := json.Marshal(batch(garbage))
	for name, c := range map[string]struct{ event, want string }{
		"api":        {`{"rawPath":"/v1/health","requestContext":{"http":{"method":"GET"}}}`, `"statusCode":200`},
		"tick":       {`{"source":"aws.scheduler"}`, `{"batchItemFailures":[]}`},
		"scan":       {string(sqsEvent), `{"batchItemFailures":[]}`},
		"work":       {strings.ReplaceAll(string(sqsEvent), "belfry-scan", "belfry-cpu-heavy"), `{"batchItemFailures":[{"itemIdentifier":"m0"}]}`},
		"deadletter": {strings.ReplaceAll(string(sqsEvent), "belfry-scan", "belfry-cpu-heavy-dlq"), `{"batchItemFailures":[{"itemIdentifier":"m0"}]}`},
		"record":     {`{"Records":[]}`, `{"batchItemFailures":[]}`},
		"archive":    {audited, `{"batchItemFailures":[{"itemIdentifier":"7"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t)
			if err := w.Queues.Ensure(t.Context(), []string{"cpu-heavy"}); err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			api, answers := runtimeAPI(t, c.event)
			output := start(ctx, t, name, w, api.URL, "BELFRY_SHARDS=4", "BELFRY_LOG_LEVEL=debug", "BELFRY_ARCHIVE_BUCKET=belfry-archive")
			ended := make(chan string, 1)
			go func() { ended <- output() }()
			select {
			case got := <-answers:
				if !strings.Contains(got, c.want) {
					t.Errorf("%s answered %s, want %s", name, got, c.want)
				}
			case said := <-ended:
				t.Fatalf("%s ended by itself: %s", name, said)
			}
			stop()
			<-ended
			if sent := w.messages(w.Queues.Names.Scan()); name == "tick" && sent != 4 {
				t.Errorf("the tick sent %d scans, want 4", sent)
			}
		})
	}
}

func TestAFunctionWithAWrongEnvironmentDoesNotStart(t *testing.T) {
	w := newTown(t)
	said := start(t.Context(), t, "scan", w, "http://127.0.0.1:1", "BELFRY_SHARDS=none", "BELFRY_WEBHOOK_SECRET=hush")()
	for _, want := range []string{"BELFRY_SHARDS", "none", "1 to 4096", "BELFRY_WEBHOOK_SECRET", "exit status 1"} {
		if !strings.Contains(said, want) {
			t.Errorf("it said %q, which lacks %q", said, want)
		}
	}
	if strings.Contains(said, "hush") {
		t.Errorf("it said the secret: %q", said)
	}
}

func TestAHandlerThatIsRefusedStopsTheStart(t *testing.T) {
	w := newTown(t)
	if _, err := functions.Work(w.Installation, func(on *worker.Worker) { worker.Handle(on, "No Name", nil) }); err == nil {
		t.Error("the function would serve without a handler that was asked for")
	}
}
