package functions_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"go.opentelemetry.io/otel/trace"

	"github.com/belfry-scheduler/belfry/functions"
	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/observe/otlp"
	"github.com/belfry-scheduler/belfry/pkg/observe/otlp/otlptest"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// watched is a town whose spans are collected.
func watched(t *testing.T, set map[string]string) (*town, *otlptest.Collector) {
	t.Helper()
	settings, err := otlp.ReadSettings(func(name string) (string, bool) {
		if name == "OTEL_EXPORTER_OTLP_ENDPOINT" {
			return "http://collector", true
		}
		return set[name], true
	})
	if err != nil {
		t.Fatal(err)
	}
	collector, seed := &otlptest.Collector{}, rand.New(rand.NewPCG(1, 2))
	var mu sync.Mutex
	export, err := otlp.Open(t.Context(), otlp.Options{Settings: settings, Service: "town", Version: "1", HTTP: collector, Clock: clock.System{},
		Random: func() uint64 { mu.Lock(); defer mu.Unlock(); return seed.Uint64() }})
	if err != nil {
		t.Fatal(err)
	}
	w := newTown(t, func(s *assemble.Settings) { s.Tracer = export.Spans() })
	w.Traces = export
	return w, collector
}

const secretPayload = "the-payload-must-not-travel"

// TestOneTracePerAttemptTellsWhatHappened runs a job that fails once. The tree of
// each attempt, how they are linked, what each span says, and when it was.
func TestOneTracePerAttemptTellsWhatHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, collector := watched(t, nil)
		at := time.Now().Add(30 * time.Second).Truncate(time.Second)
		ref := w.put(job.Definition{Job: "traced", Schedule: job.Schedule{At: at}, Payload: json.RawMessage(`"` + secretPayload + `"`),
			Retry: job.Retry{MaxAttempts: 3, Base: job.Duration(time.Second)}}, "note")
		var handed []string
		w.run(3*time.Minute, map[string]worker.Handler{"note": func(ctx context.Context, a *worker.Attempt) error {
			handed = append(handed, a.Traceparent())
			_, own := trace.SpanFromContext(ctx).TracerProvider().Tracer("mine").Start(ctx, "own")
			time.Sleep(time.Second)
			own.End()
			if a.Number() < 2 {
				return worker.WithCode("NOT_YET", errors.New(secretPayload))
			}
			return nil
		}})
		w.Traces.Close(t.Context())
		e := w.executions(ref)[0]
		if e.Status != job.Succeeded || e.Attempt != 2 {
			t.Fatalf("it is %s after %d attempts; the test needs one retry", e.Status, e.Attempt)
		}
		defer func() {
			if t.Failed() {
				collector.Show(t)
			}
		}()
		made, attempts := collector.Named("belfry.materialise"), collector.Named("belfry.attempt")
		if len(made) != 1 || len(attempts) != 2 || made[0].Parent != "" || !made[0].End.Before(at) {
			t.Fatalf("%d materialisations and %d attempts", len(made), len(attempts))
		}
		first, second := attempts[0], attempts[1]
		if first.Trace != made[0].Trace || first.Parent != made[0].ID || len(first.Links) != 0 {
			t.Errorf("the first attempt does not go on in the trace of the materialisation: %+v", first)
		}
		before, origin := otlptest.Link{Trace: first.Trace, Span: first.ID, Why: "attempt before"}, otlptest.Link{Trace: made[0].Trace, Span: made[0].ID, Why: "materialise"}
		if second.Trace == first.Trace || second.Parent != "" || !slices.Equal(second.Links, []otlptest.Link{before, origin}) {
			t.Errorf("the second attempt has no trace of its own that leads back: %+v", second)
		}
		if collector.Holds(secretPayload) {
			t.Error("a payload, or the text of an error, was exported")
		}
		for n, attempt := range attempts {
			below(t, collector, attempt, &e, n+1, handed[n])
		}
		if since := second.Start.Sub(first.End); since < 400*time.Millisecond || since > 2*time.Second {
			t.Errorf("the second attempt could begin %s after the first one ended; the retry waits about a second", since)
		}
	})
}

// below looks at one attempt and the spans in it.
func below(t *testing.T, collector *otlptest.Collector, attempt otlptest.Span, e *job.Execution, number int, handed string) {
	t.Helper()
	if got, want := collector.Under(attempt), []string{"belfry.claim", "belfry.handler", "belfry.queue_wait", "belfry.settle"}; !slices.Equal(got, want) {
		t.Errorf("below attempt %d are %v, want %v", number, got, want)
	}
	wants := map[string]string{"belfry.execution_id": e.ID(), "belfry.job": "traced", "belfry.tenant": "default", "belfry.pool": "fast-io", "belfry.attempt": strconv.Itoa(number),
		"belfry.token": strconv.Itoa(number), "belfry.status": map[int]string{1: "RETRY_WAIT", 2: "SUCCEEDED"}[number], "belfry.error_code": map[int]string{1: "NOT_YET"}[number]}
	for name, want := range wants {
		if attempt.About[name] != want {
			t.Errorf("attempt %d says %s = %q, want %q", number, name, attempt.About[name], want)
		}
	}
	if attempt.Failed != (number == 1) || attempt.Kind != "CONSUMER" || attempt.Resource["service.name"] != "town" {
		t.Errorf("attempt %d: %+v", number, attempt)
	}
	if attempt.Trace[:8] != strconv.FormatInt(e.ScheduledAt.Unix(), 16) {
		t.Errorf("the trace %s does not begin with the second %x, so X-Ray could refuse it", attempt.Trace, e.ScheduledAt.Unix())
	}
	for _, s := range collector.Spans() {
		if s.Trace != attempt.Trace || s.Parent != attempt.ID {
			continue
		}
		if s.Start.Before(attempt.Start) || s.End.After(attempt.End) || s.Name == "belfry.handler" && s.End.Sub(s.Start) != time.Second {
			t.Errorf("%s lasts from %s to %s, in an attempt from %s to %s", s.Name, s.Start, s.End, attempt.Start, attempt.End)
		}
		if s.Name == "belfry.handler" {
			if want := "00-" + s.Trace + "-" + s.ID + "-01"; handed != want || !slices.Equal(collector.Under(s), []string{"own"}) {
				t.Errorf("the handler was handed %s, want %s; below it are %v", handed, want, collector.Under(s))
			}
		}
	}
}

// TestAllAttemptsOfAnExecutionAreSampledAlike has many executions retry once,
// with a ratio that takes about half of them.
func TestAllAttemptsOfAnExecutionAreSampledAlike(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, collector := watched(t, map[string]string{"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.5"})
		w.put(job.Definition{Job: "many", Schedule: job.Schedule{Every: job.Duration(time.Second)}, Retry: job.Retry{MaxAttempts: 3, Base: job.Duration(time.Second)}}, "note")
		var mu sync.Mutex
		flags := map[string][]string{}
		w.run(2*time.Minute, map[string]worker.Handler{"note": func(_ context.Context, a *worker.Attempt) error {
			mu.Lock()
			defer mu.Unlock()
			flags[a.ExecutionID()] = append(flags[a.ExecutionID()], a.Traceparent()[53:])
			if a.Number() < 2 {
				return errors.New("not yet")
			}
			return nil
		}})
		w.Traces.Close(t.Context())
		told, sampled := map[string]int{}, 0
		for _, s := range collector.Spans() {
			if s.Name == "belfry.attempt" || s.Name == "belfry.materialise" {
				told[s.About["belfry.execution_id"]]++
			}
		}
		for id, got := range flags {
			if len(got) != 2 {
				continue // the end of the run cut its retry off
			}
			if yes := got[0] == "01"; got[0] != got[1] || (told[id] == 3) != yes || (told[id] == 0) == yes {
				t.Errorf("%s handed on the flags %v, and %d of its spans were exported", id, got, told[id])
			} else if yes {
				sampled++
			}
		}
		if sampled < len(flags)/4 || sampled > 3*len(flags)/4 {
			t.Errorf("%d of %d executions were sampled, at a ratio of a half", sampled, len(flags))
		}
	})
}

// TestTheSenderOfAMessageIsLinked hands the work function a message that another
// program has sent, with a trace context of its own.
func TestTheSenderOfAMessageIsLinked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, collector := watched(t, nil)
		ref := w.put(job.Definition{Job: "asked", Schedule: job.Schedule{Every: job.Duration(24 * time.Hour)}}, "note")
		e, err := w.Control.RunNow(t.Context(), control.RunRequest{Ref: ref, Actor: "ada"})
		if err != nil {
			t.Fatal(err)
		}
		work, err := functions.Work(w.Installation, func(on *worker.Worker) {
			worker.Handle(on, "note", func(context.Context, *worker.Attempt) error { return nil })
		})
		if err != nil {
			t.Fatal(err)
		}
		received, err := w.Queues.Queue(w.Queues.Names.Work("fast-io")).Receive(t.Context(), 1, time.Second, time.Minute)
		if err != nil || len(received) != 1 {
			t.Fatal(received, err)
		}
		const sender = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
		body := strings.TrimSuffix(received[0].Body, "}") + `,"traceparent":"` + sender + `"}`
		response, err := work(t.Context(), events.SQSEvent{Records: []events.SQSMessage{{MessageId: "1", ReceiptHandle: received[0].Handle, Body: body,
			EventSourceARN: "arn:aws:sqs:us-east-1:000000000000:" + w.Queues.Names.Work("fast-io"), Attributes: map[string]string{"ApproximateReceiveCount": "1"}}}})
		if err != nil || len(response.BatchItemFailures) != 0 {
			t.Fatal(response, err)
		}
		w.Traces.Close(t.Context())
		attempts := collector.Named("belfry.attempt")
		want := otlptest.Link{Trace: sender[3:35], Span: sender[36:52], Why: "cause"}
		if len(attempts) != 1 || !slices.Equal(attempts[0].Links, []otlptest.Link{want}) || attempts[0].About["belfry.execution_id"] != e.ID() {
			t.Errorf("the attempt tells %+v, want a link to its sender", attempts)
		}
		if made := collector.Named("belfry.materialise"); len(made) != 1 || made[0].Trace != attempts[0].Trace {
			t.Errorf("a run by hand is made as %+v", made)
		}
	})
}

// TestAFunctionIsTracedAsItsEnvironmentSays opens a function as its main does.
func TestAFunctionIsTracedAsItsEnvironmentSays(t *testing.T) {
	for _, endpoint := range []string{"", "http://127.0.0.1:4318"} {
		i, err := functions.Open(t.Context(), func(name string) (string, bool) {
			return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}[name], true
		}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		for plane, on := range map[string]bool{"trigger": i.Trigger.Tracer != nil, "control": i.Control.Tracer != nil, "execute": i.Execute(nil).Tracer != nil, "export": i.Traces != nil} {
			if on != (endpoint != "") {
				t.Errorf("with the endpoint %q, %s is traced: %v", endpoint, plane, on)
			}
		}
		i.Traces.Close(t.Context())
	}
	if _, err := functions.Open(t.Context(), func(name string) (string, bool) {
		return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4317"}[name], true
	}, io.Discard); err == nil || !strings.Contains(err.Error(), "OTEL_EXPORTER_OTLP_ENDPOINT") {
		t.Errorf("an endpoint that is none: %v", err)
	}
}
