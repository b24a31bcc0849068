package observe

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// scope names the instrumentation in what is exported.
const scope = "github.com/belfry-scheduler/belfry"

// SpanName is a word of the closed list of spans.
type SpanName string

// The spans of an execution. A retry has a trace of its own, with its own
// attempt and all below it.
const (
	MaterialiseSpan SpanName = "belfry.materialise" // the put and the send; root of the first attempt's trace
	AttemptSpan     SpanName = "belfry.attempt"     // from when the attempt could begin to its settle
	QueueWaitSpan   SpanName = "belfry.queue_wait"  // from when it could begin to its claim
	ClaimSpan       SpanName = "belfry.claim"       // the claim's write
	HandlerSpan     SpanName = "belfry.handler"     // the handler; its own spans nest below
	SettleSpan      SpanName = "belfry.settle"      // the settle's write
	WebhookSpan     SpanName = "belfry.webhook"     // the call of a webhook
	AWSSpan         SpanName = "belfry.aws"         // the call of a target in AWS
)

// Tracer makes the spans of executions. Nil is a tracer that is off: its
// methods do nothing and allocate nothing. It is safe for concurrent use.
type Tracer struct {
	spans trace.Tracer
}

// NewTracer makes a tracer whose spans go to provider, which must take its ids
// from IDs; nil gives a tracer that is off.
func NewTracer(provider trace.TracerProvider) *Tracer {
	if provider == nil {
		return nil
	}
	return &Tracer{spans: provider.Tracer(scope)}
}

// Span is a stretch of work that is being measured. Nil takes every call.
type Span struct {
	tracer trace.Tracer
	span   trace.Span
}

// Materialised tells that e was put at its CreatedAt and that its message was
// sent at sentAt; err says why it was not.
func (t *Tracer) Materialised(ctx context.Context, e *job.Execution, sentAt time.Time, err error) {
	if t == nil {
		return
	}
	own := idsOf(e, materialise)
	span := t.begin(ctx, own, MaterialiseSpan, trace.WithTimestamp(e.CreatedAt), trace.WithSpanKind(trace.SpanKindProducer), trace.WithNewRoot(),
		trace.WithLinks(causes(ctx)...), trace.WithAttributes(about(e)...))
	if err != nil {
		span.SetStatus(codes.Error, "NOT_SENT")
	}
	span.End(trace.WithTimestamp(sentAt))
}

// Attempt begins the span of the attempt that e was claimed for, by a write that
// was sent at sentAt (zero: by an earlier one) and known to have succeeded at
// now. The first attempt goes on in the trace of its materialisation; a later
// one has a trace of its own, linked to the one before and to the
// materialisation. The context that it answers carries the span.
func (t *Tracer) Attempt(ctx context.Context, e *job.Execution, sentAt, now time.Time) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	claimed := sentAt
	if claimed.IsZero() {
		claimed = now
	}
	since := waitingSince(e, claimed)
	options := []trace.SpanStartOption{trace.WithTimestamp(since), trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(about(e)...),
		trace.WithAttributes(attribute.Int("belfry.attempt", e.Attempt), attribute.Int64("belfry.token", e.FencingToken))}
	from, origin := ctx, idsOf(e, materialise).context()
	links := causes(ctx)
	if e.Attempt > 1 {
		links = append(links, trace.Link{SpanContext: idsOf(e, e.Attempt-1).context(), Attributes: []attribute.KeyValue{attribute.String("belfry.link", "attempt before")}},
			trace.Link{SpanContext: origin, Attributes: []attribute.KeyValue{attribute.String("belfry.link", "materialise")}})
		options = append(options, trace.WithNewRoot())
	} else {
		from = trace.ContextWithRemoteSpanContext(ctx, origin)
	}
	span := t.begin(from, idsOf(e, e.Attempt), AttemptSpan, append(options, trace.WithLinks(links...))...)
	s := &Span{tracer: t.spans, span: span}
	ctx = trace.ContextWithSpan(ctx, span)
	s.lasted(ctx, QueueWaitSpan, since, claimed)
	if !sentAt.IsZero() {
		s.lasted(ctx, ClaimSpan, sentAt, now)
	}
	return ctx, s
}

// begin starts a span under ids that are known beforehand. They stay out of the
// context of what comes below it.
func (t *Tracer) begin(ctx context.Context, own ids, name SpanName, options ...trace.SpanStartOption) trace.Span {
	_, span := t.spans.Start(context.WithValue(ctx, idsKey{}, own), string(name), options...)
	return span
}

// lasted makes a span of what is over.
func (s *Span) lasted(ctx context.Context, name SpanName, from, to time.Time) {
	if !s.span.IsRecording() {
		return
	}
	_, span := s.tracer.Start(ctx, string(name), trace.WithTimestamp(from))
	span.End(trace.WithTimestamp(to))
}

// Begin starts a span below s. The context that it answers is ctx with the new
// span.
func (s *Span) Begin(ctx context.Context, name SpanName, at time.Time) (context.Context, *Span) {
	if s == nil {
		return ctx, nil
	}
	ctx, span := s.tracer.Start(ctx, string(name), trace.WithTimestamp(at))
	return ctx, &Span{tracer: s.tracer, span: span}
}

// Became tells the status that the execution was settled with.
func (s *Span) Became(status job.Status) {
	if s != nil {
		s.span.SetAttributes(attribute.String("belfry.status", string(status)))
	}
}

// Failed marks the span with the class and code of a failure, never with its
// text, which may hold anything.
func (s *Span) Failed(class, code string) {
	if s == nil {
		return
	}
	s.span.SetStatus(codes.Error, class)
	s.span.SetAttributes(attribute.String("error.type", class), attribute.String("belfry.error_code", code))
}

// End ends the span. What is told later is lost.
func (s *Span) End(at time.Time) {
	if s != nil {
		s.span.End(trace.WithTimestamp(at))
	}
}

// Traceparent is the span's W3C trace context; empty for nil.
func (s *Span) Traceparent() string {
	if s == nil {
		return ""
	}
	return traceparent(s.span.SpanContext())
}

// Call begins the span of a call to host below the span in ctx; nil when
// nothing there is recorded.
func Call(ctx context.Context, name SpanName, method, host string, at time.Time) *Span {
	above := trace.SpanFromContext(ctx)
	if !above.IsRecording() {
		return nil
	}
	tracer := above.TracerProvider().Tracer(scope)
	_, span := tracer.Start(ctx, string(name), trace.WithTimestamp(at), trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("http.request.method", method), attribute.String("server.address", host)))
	return &Span{tracer: tracer, span: span}
}

// CallAWS begins the span of a target's call of an AWS service below the span in
// ctx; nil when nothing there is recorded.
func CallAWS(ctx context.Context, service, operation string, at time.Time) *Span {
	above := trace.SpanFromContext(ctx)
	if !above.IsRecording() {
		return nil
	}
	tracer := above.TracerProvider().Tracer(scope)
	_, span := tracer.Start(ctx, string(AWSSpan), trace.WithTimestamp(at), trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("rpc.system", "aws-api"), attribute.String("rpc.service", service), attribute.String("rpc.method", operation)))
	return &Span{tracer: tracer, span: span}
}

// Answered tells the HTTP status of the answer.
func (s *Span) Answered(status int) {
	if s == nil {
		return
	}
	s.span.SetAttributes(attribute.Int("http.response.status_code", status))
	if status >= 400 {
		s.span.SetStatus(codes.Error, "")
	}
}

// about is what every span of an execution says of it.
func about(e *job.Execution) []attribute.KeyValue {
	return []attribute.KeyValue{attribute.String("belfry.execution_id", e.ID()), attribute.String("belfry.job", e.Job), attribute.String("belfry.tenant", e.Tenant),
		attribute.String("belfry.pool", e.Pool)}
}

// waitingSince is from when on the attempt could have begun, at most claimed.
// Of one that was taken over nobody knows when its worker ended.
func waitingSince(e *job.Execution, claimed time.Time) time.Time {
	if n := len(e.Timeline); n > 1 && e.Timeline[n-2].To == job.Running {
		return claimed
	}
	since := e.AvailableAt
	if e.CreatedAt.After(since) {
		since = e.CreatedAt
	}
	if since.After(claimed) {
		return claimed
	}
	return since
}
