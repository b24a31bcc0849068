package observe_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/observe"
)

var due = time.Date(2026, 7, 12, 1, 30, 0, 0, time.UTC)

func claimed(attempt int) *job.Execution {
	e := &job.Execution{Ref: job.Ref{Tenant: "acme", Job: "billing"}, Key: job.ScheduledKey(due), Revision: 3, Epoch: 7, Attempt: attempt, FencingToken: int64(attempt),
		Pool: "fast-io", CreatedAt: due.Add(-time.Minute), AvailableAt: due, Status: job.Running}
	e.Timeline = []job.Entry{{At: e.CreatedAt, To: job.Scheduled}, {At: due.Add(time.Second), To: job.Running, Attempt: 1}}
	return e
}

// recorder keeps spans that a tracer made.
func recorder() (*observe.Tracer, *tracetest.SpanRecorder) {
	kept, n := tracetest.NewSpanRecorder(), uint64(0)
	return observe.NewTracer(sdk.NewTracerProvider(sdk.WithSpanProcessor(kept), sdk.WithIDGenerator(observe.IDs{Random: func() uint64 { n++; return n }}))), kept
}

func TestATracerThatIsOffCostsNothing(t *testing.T) {
	off, e, at := observe.NewTracer(nil), claimed(1), due.Add(time.Second)
	ctx := t.Context()
	allocations := testing.AllocsPerRun(100, func() {
		off.Materialised(ctx, e, at, nil)
		under, attempt := off.Attempt(ctx, e, at, at)
		under, handler := attempt.Begin(under, observe.HandlerSpan, at)
		call := observe.Call(under, observe.WebhookSpan, "POST", "example.com", at)
		call.Answered(200)
		call.End(at)
		handler.Failed("transient", "HTTP_500")
		handler.End(at)
		attempt.Became(job.Succeeded)
		attempt.End(at)
		if handler.Traceparent() != "" || observe.WithCause(ctx, "") != ctx {
			t.Fatal("what is off says something")
		}
	})
	if allocations != 0 {
		t.Errorf("%v allocations an execution, want none", allocations)
	}
}

func BenchmarkATracerThatIsOff(b *testing.B) {
	off, e, at := observe.NewTracer(nil), claimed(1), due.Add(time.Second)
	b.ReportAllocs()
	for b.Loop() {
		under, attempt := off.Attempt(b.Context(), e, at, at)
		_, handler := attempt.Begin(under, observe.HandlerSpan, at)
		handler.End(at)
		attempt.End(at)
	}
}

func BenchmarkATracerThatIsOn(b *testing.B) {
	tracer := observe.NewTracer(sdk.NewTracerProvider(sdk.WithIDGenerator(observe.IDs{Random: func() uint64 { return 1 }})))
	e, at := claimed(1), due.Add(time.Second)
	b.ReportAllocs()
	for b.Loop() {
		under, attempt := tracer.Attempt(b.Context(), e, at, at)
		_, handler := attempt.Begin(under, observe.HandlerSpan, at)
		handler.End(at)
		attempt.End(at)
	}
}

func TestTheWaitOfAnAttemptBeginsWhenItCould(t *testing.T) {
	sent := due.Add(10 * time.Second)
	for sentence, row := range map[string]struct {
		change func(*job.Execution)
		since  time.Time
	}{
		"when it was due":                     {func(*job.Execution) {}, due},
		"when it was made, if that was later": {func(e *job.Execution) { e.CreatedAt = due.Add(4 * time.Second) }, due.Add(4 * time.Second)},
		"not at all, if the clocks disagree":  {func(e *job.Execution) { e.AvailableAt = sent.Add(time.Second) }, sent},
		"not at all, if it was taken over": {func(e *job.Execution) {
			e.Timeline = append(e.Timeline, job.Entry{At: sent, To: job.Running, Attempt: 2})
		}, sent},
	} {
		t.Run(sentence, func(t *testing.T) {
			tracer, kept := recorder()
			e := claimed(1)
			row.change(e)
			_, attempt := tracer.Attempt(t.Context(), e, sent, sent.Add(time.Millisecond))
			attempt.End(sent.Add(time.Second))
			var names []string
			for _, s := range kept.Ended() {
				names = append(names, s.Name())
				if s.Name() != string(observe.ClaimSpan) && !s.StartTime().Equal(row.since) || s.Name() == string(observe.ClaimSpan) && !s.StartTime().Equal(sent) {
					t.Errorf("%s begins at %s, want %s", s.Name(), s.StartTime(), row.since)
				}
			}
			if got := strings.Join(names, " "); got != "belfry.queue_wait belfry.claim belfry.attempt" {
				t.Errorf("spans %s", got)
			}
		})
	}
}

func TestWhoCausedTheWorkIsLinked(t *testing.T) {
	const traceID, spanID = "5759e988bd862e3fe1be46a994272793", "53995c3f42cd8ad8"
	for sentence, row := range map[string]struct {
		header string
		linked bool
	}{
		"a traceparent":                        {"00-" + traceID + "-" + spanID + "-01", true},
		"one of a later version":               {"01-" + traceID + "-" + spanID + "-01-more", true},
		"X-Ray's header":                       {"Root=1-5759e988-bd862e3fe1be46a994272793;Parent=" + spanID + ";Sampled=1", true},
		"X-Ray's header with lineage":          {"Self=1-67891234-12456789abcdef012345678a;Root=1-5759e988-bd862e3fe1be46a994272793;Parent=" + spanID + ";Sampled=0;Lineage=a:0", true},
		"X-Ray's header without a parent":      {"Root=1-5759e988-bd862e3fe1be46a994272793", false},
		"nothing":                              {"", false},
		"nonsense":                             {"00-zz-yy-01", false},
		"ids that are zero":                    {"00-00000000000000000000000000000000-0000000000000000-01", false},
		"a version that must not be":           {"ff-" + traceID + "-" + spanID + "-01", false},
		"something that would be far too long": {strings.Repeat("00-", 10000), false},
	} {
		t.Run(sentence, func(t *testing.T) {
			tracer, kept := recorder()
			tracer.Materialised(observe.WithCause(t.Context(), row.header), claimed(0), due, nil)
			links := kept.Ended()[0].Links()
			if (len(links) == 1) != row.linked {
				t.Fatalf("%d links", len(links))
			}
			if row.linked && (links[0].SpanContext.TraceID().String() != traceID || links[0].SpanContext.SpanID().String() != spanID) {
				t.Errorf("linked to %v", links[0].SpanContext)
			}
		})
	}
}

func TestTheIDsAreThoseThatAnybodyCanCompute(t *testing.T) {
	tracer, kept := recorder()
	handed := map[string]bool{}
	for attempt := 1; attempt <= 3; attempt++ {
		e := claimed(attempt)
		_, span := tracer.Attempt(t.Context(), e, due, due)
		if span.Traceparent() != observe.TraceparentOf(e) {
			t.Errorf("attempt %d is %s, computed as %s", attempt, span.Traceparent(), observe.TraceparentOf(e))
		}
		handed[span.Traceparent()[3:35]] = true
		span.End(due)
	}
	if len(handed) != 3 {
		t.Errorf("3 attempts are in %d traces", len(handed))
	}
	// A life of a later epoch is made again, and runs under the trace of its first attempt.
	again := claimed(1)
	again.Epoch++
	tracer.Materialised(t.Context(), claimed(0), due, nil)
	tracer.Materialised(t.Context(), again, due, errors.New("not sent"))
	ended := kept.Ended()
	one, other := ended[len(ended)-2], ended[len(ended)-1]
	if one.SpanContext().TraceID() != other.SpanContext().TraceID() || one.SpanContext().SpanID() == other.SpanContext().SpanID() {
		t.Errorf("made as %v, and again as %v", one.SpanContext(), other.SpanContext())
	}
	if other.Status().Description != "NOT_SENT" || one.Status().Description != "" {
		t.Errorf("ended as %v and %v", one.Status(), other.Status())
	}
}

func TestASpanOfSomebodyElseGetsAnIDOfItsOwn(t *testing.T) {
	tracer, kept := recorder()
	ctx, attempt := tracer.Attempt(t.Context(), claimed(1), due, due)
	_, own := trace.SpanFromContext(ctx).TracerProvider().Tracer("mine").Start(context.WithoutCancel(ctx), "own")
	own.End()
	attempt.End(due)
	seen := map[string]bool{}
	for _, s := range kept.Ended() {
		seen[s.SpanContext().SpanID().String()] = true
	}
	if len(seen) != 4 {
		t.Errorf("4 spans have %d ids", len(seen))
	}
}
