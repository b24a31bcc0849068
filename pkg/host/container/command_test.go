package container

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws/localawstest"
	"github.com/belfry-scheduler/belfry/pkg/observe/otlp/otlptest"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// environment looks variables up in a map.
func environment(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { value, found := vars[name]; return value, found }
}

func TestWhatTheCommandAnswers(t *testing.T) {
	rows := map[string]struct {
		args []string
		vars map[string]string
		code int
		want []string // in stdout when the code is 0, in stderr otherwise
	}{
		"help names every flag and variable": {args: []string{"--help"}, want: []string{"--slots", "--drain", "--dead-letters", "--health",
			"BELFRY_POOL", "BELFRY_HEALTH", "BELFRY_PREFIX", "BELFRY_WEBHOOK_SECRET", "BELFRY_WEBHOOK_ALLOW", "SIGTERM", "default belfry"}},
		"an unknown flag":          {args: []string{"--colour"}, code: exitUsage, want: []string{"--colour", "--help"}},
		"a flag with one dash":     {args: []string{"-health"}, code: exitUsage, want: []string{"BELFRY_HEALTH"}},
		"one with a value":         {args: []string{"-slots=-1"}, code: exitRefused, want: []string{"Slots", "-1"}},
		"a letter that is no flag": {args: []string{"-x"}, code: exitUsage, want: []string{"-x", "--help"}},
		"an argument":              {args: []string{"fast-io"}, code: exitUsage, want: []string{"fast-io", "--help"}},
		"a drain that is no time":  {args: []string{"--drain=soon"}, code: exitUsage, want: []string{"drain"}},
		"a pool that is not there": {vars: map[string]string{"BELFRY_POOL": "slow"}, code: exitRefused, want: []string{"BELFRY_POOL", "slow"}},
		"slots below zero":         {args: []string{"--slots=-1"}, code: exitRefused, want: []string{"Slots", "-1"}},
		"an address that is none":  {vars: map[string]string{"BELFRY_HEALTH": "8080"}, code: exitRefused, want: []string{"BELFRY_HEALTH", "8080"}},
		"a key that cannot sign":   {vars: map[string]string{"BELFRY_WEBHOOK_SECRET": "hunter2"}, code: exitRefused, want: []string{"BELFRY_WEBHOOK_SECRET"}},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			code := run(t.Context(), row.args, environment(row.vars), &out, &errOut)
			told := errOut.String()
			if row.code == exitOK {
				told = out.String()
			}
			if code != row.code || strings.Contains(told, "hunter2") {
				t.Errorf("exit code %d, want %d: %s", code, row.code, told)
			}
			for _, part := range row.want {
				if !strings.Contains(told, part) {
					t.Errorf("%q is not in %s", part, told)
				}
			}
		})
	}
}

// backend serves AWS on a socket, and points the SDK's environment to it.
func backend(t *testing.T) *assemble.Belfry {
	t.Helper()
	local := localawstest.Serve(t)
	clients := assemble.Clients{DynamoDB: dynamodb.NewFromConfig(local.Config()), SQS: sqs.NewFromConfig(local.Config())}
	b := assemble.New(clients, assemble.Settings{})
	if err := b.Ensure(t.Context(), clients); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestWorkerRunsWhatIsQueuedAndDrainsWhenToldToStop(t *testing.T) {
	b := backend(t)
	called, answer := make(chan struct{}), make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(called)
		<-answer
	}))
	defer receiver.Close()
	collector := &otlptest.Collector{}
	collecting := httptest.NewServer(collector)
	defer collecting.Close()
	ref := job.Ref{Tenant: "default", Job: "hook"}
	definition := job.Definition{Job: "hook", Schedule: job.Schedule{Cron: "0 0 1 1 *"}, Target: job.Target{Webhook: &job.Webhook{URL: receiver.URL}}}
	if _, err := b.Control.Put(t.Context(), control.PutRequest{Ref: ref, Definition: definition, Actor: "test"}); err != nil {
		t.Fatal(err)
	}
	e, err := b.Control.RunNow(t.Context(), control.RunRequest{Ref: ref, Actor: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	code := make(chan int)
	var out, errOut bytes.Buffer
	go func() {
		code <- run(ctx, []string{"--slots=2"}, environment(map[string]string{"BELFRY_POOL": "fast-io", "BELFRY_WEBHOOK_ALLOW": "127.0.0.1",
			"OTEL_EXPORTER_OTLP_ENDPOINT": collecting.URL}), &out, &errOut)
	}()
	<-called
	stop()
	close(answer)
	if c := <-code; c != exitOK {
		t.Fatalf("exit code %d: %s", c, errOut.String())
	}
	after, err := b.Store.Execution(t.Context(), ref, e.Key)
	if err != nil || after.Status != job.Succeeded {
		t.Errorf("%v, %v; want the running attempt finished", after.Status, err)
	}
	if traced := collector.Named("belfry.attempt"); len(traced) != 1 || traced[0].About["belfry.status"] != "SUCCEEDED" || traced[0].Resource["service.name"] != "belfry-worker" {
		t.Errorf("when it had ended, the collector knew of %+v; want the attempt that ran last", traced)
	}
	for _, part := range []string{`"worker started","pools":["fast-io"]`, `"worker stopped"`} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("%s is not in the log %s", part, out.String())
		}
	}
}

func TestAWorkerWithAHandlerThatIgnoresItsContextAsksToBeStartedAnew(t *testing.T) {
	if got := codeOf(fmt.Errorf("serve: %w", worker.ErrStuck)); got != 70 {
		t.Errorf("it ends with %d", got)
	}
	if got := codeOf(errors.New("any other")); got != exitFailed {
		t.Errorf("any other error ends it with %d", got)
	}
}
