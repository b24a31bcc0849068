package observe

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// ids are those of a span that is known without being carried: whoever knows an
// execution's key and the number of an attempt can compute them.
type ids struct {
	trace trace.TraceID
	span  trace.SpanID
}

// materialise stands for the number of an attempt: it shares the trace of the
// first one.
const materialise = 0

// idsOf are the ids of an attempt's span. The trace id holds, in its order, the
// second that the execution stands for (X-Ray wants a time there), a word that
// differs with the attempt, and one that is the same for all attempts: samplers
// that go by the last eight bytes decide alike for all of them.
func idsOf(e *job.Execution, attempt int) ids {
	name := job.IdempotencyKey(e.Ref, e.Key)
	own := sha256.Sum256([]byte(name))
	var i ids
	binary.BigEndian.PutUint32(i.trace[0:4], uint32(e.ScheduledAt.Unix()))
	binary.BigEndian.PutUint32(i.trace[4:8], binary.BigEndian.Uint32(own[8:12])+uint32(max(attempt, 1)))
	copy(i.trace[8:], own[:8])
	word := strconv.Itoa(attempt)
	if attempt == materialise {
		word = "epoch " + strconv.FormatInt(e.Epoch, 10) // a newer life is made again
	}
	span := sha256.Sum256([]byte(name + "#" + word))
	copy(i.span[:], span[:8])
	return i
}

// context is the span as others see it. The flag says sampled, as far as that
// can be known from outside.
func (i ids) context() trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: i.trace, SpanID: i.span, TraceFlags: trace.FlagsSampled, Remote: true})
}

type idsKey struct{}

// IDs gives the spans of executions their computed ids, and random ones to all
// others. It satisfies the IDGenerator of the OpenTelemetry SDK.
type IDs struct {
	Random func() uint64 // safe for concurrent use
}

// NewIDs gives the ids of a span that begins a trace.
func (g IDs) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if own, known := ctx.Value(idsKey{}).(ids); known {
		return own.trace, own.span
	}
	var t trace.TraceID
	binary.BigEndian.PutUint64(t[:8], g.random())
	binary.BigEndian.PutUint64(t[8:], g.random())
	return t, g.NewSpanID(ctx, t)
}

// NewSpanID gives the id of a span within a trace.
func (g IDs) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	if own, known := ctx.Value(idsKey{}).(ids); known {
		return own.span
	}
	var s trace.SpanID
	binary.BigEndian.PutUint64(s[:], g.random())
	return s
}

// random is never zero, which is no id.
func (g IDs) random() uint64 {
	for {
		if n := g.Random(); n != 0 {
			return n
		}
	}
}

// TraceparentOf is the W3C trace context of the attempt that runs e, for a
// worker that records nothing. Its flag says sampled: most receivers follow it,
// and would record nothing of what Belfry calls if it said no.
func TraceparentOf(e *job.Execution) string { return traceparent(idsOf(e, e.Attempt).context()) }

func traceparent(c trace.SpanContext) string {
	if !c.IsValid() {
		return ""
	}
	flags := "-00"
	if c.IsSampled() {
		flags = "-01"
	}
	return "00-" + c.TraceID().String() + "-" + c.SpanID().String() + flags
}

// WithCause notes what a message, or the invocation of a function, says about
// who caused the work: a W3C traceparent or an X-Amzn-Trace-Id. Spans link to it;
// what cannot be read is passed over.
func WithCause(ctx context.Context, header string) context.Context {
	if header == "" {
		return ctx
	}
	c := parseTraceparent(header)
	if !c.IsValid() {
		c = parseXRay(header)
	}
	if !c.IsValid() {
		return ctx
	}
	return context.WithValue(ctx, causeKey{}, c)
}

type causeKey struct{}

func causes(ctx context.Context) []trace.Link {
	c, known := ctx.Value(causeKey{}).(trace.SpanContext)
	if !known {
		return nil
	}
	return []trace.Link{{SpanContext: c, Attributes: []attribute.KeyValue{attribute.String("belfry.link", "cause")}}}
}

func parseTraceparent(header string) trace.SpanContext {
	parts := strings.Split(header, "-")
	if len(parts) < 4 || len(parts[0]) != 2 || parts[0] == "ff" || len(parts[3]) != 2 {
		return trace.SpanContext{}
	}
	return spanContext(parts[1], parts[2], parts[3])
}

// parseXRay reads Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1.
func parseXRay(header string) trace.SpanContext {
	fields := map[string]string{}
	for part := range strings.SplitSeq(header, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		fields[name] = value
	}
	root, marked := strings.CutPrefix(fields["Root"], "1-")
	if !marked {
		return trace.SpanContext{}
	}
	return spanContext(strings.Replace(root, "-", "", 1), fields["Parent"], "0"+fields["Sampled"])
}

func spanContext(traceHex, spanHex, flagsHex string) trace.SpanContext {
	t, traceErr := trace.TraceIDFromHex(traceHex)
	s, spanErr := trace.SpanIDFromHex(spanHex)
	flags, flagsErr := hex.DecodeString(flagsHex)
	if traceErr != nil || spanErr != nil || flagsErr != nil || len(flags) != 1 {
		return trace.SpanContext{}
	}
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: t, SpanID: s, TraceFlags: trace.TraceFlags(flags[0]) & trace.FlagsSampled, Remote: true})
}
