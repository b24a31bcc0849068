package otlp

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/belfry-scheduler/belfry/pkg/observe"
)

const (
	// flushWithin bounds what an invocation waits for the collector.
	flushWithin = 500 * time.Millisecond
	// restFor is how long no flush waits for a collector that has failed.
	restFor = 30 * time.Second
)

// Clock tells the time.
type Clock interface {
	// Now is the current time.
	Now() time.Time
}

// Options of an export. Clock and Random are required.
type Options struct {
	Settings
	Service string            // when the settings name none; empty = belfry
	Version string            // of the service; empty = not told
	HTTP    http.RoundTripper // nil = http.DefaultTransport
	Clock   Clock
	Random  func() uint64 // safe for concurrent use
	Log     *slog.Logger  // nil: silent
}

// Export sends spans. Nil is one that is off. It is safe for concurrent use.
type Export struct {
	tracer   *observe.Tracer
	provider *sdk.TracerProvider
	clock    Clock
	log      *slog.Logger
	client   *client
	rests    atomic.Int64 // unix nanoseconds until which no flush waits
	told     atomic.Int64 // when a failure was logged last
}

// Open makes an export; without an endpoint it is nil, which is one that is off.
// It makes no call.
func Open(ctx context.Context, o Options) (*Export, error) {
	if o.Endpoint == nil {
		return nil, nil //nolint:nilnil // nil is an export that is off
	}
	e := &Export{clock: o.Clock, log: o.Log, client: &client{endpoint: o.Endpoint, headers: o.Headers, gzip: o.Gzip, http: o.HTTP}}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	if e.client.http == nil {
		e.client.http = http.DefaultTransport
	}
	inner, err := otlptrace.New(ctx, e.client)
	if err != nil {
		return nil, err
	}
	e.provider = sdk.NewTracerProvider(sdk.WithBatcher(failing{SpanExporter: inner, export: e}, sdk.WithExportTimeout(o.Timeout)),
		sdk.WithSampler(o.Sampler), sdk.WithIDGenerator(observe.IDs{Random: o.Random}), sdk.WithResource(o.resource()))
	e.tracer = observe.NewTracer(e.provider)
	return e, nil
}

// Spans is what planes are given.
func (e *Export) Spans() *observe.Tracer {
	if e == nil {
		return nil
	}
	return e.tracer
}

// Provider is for spans of handlers' own; of an export that is off, one that
// records nothing.
func (e *Export) Provider() trace.TracerProvider {
	if e == nil {
		return noop.NewTracerProvider()
	}
	return e.provider
}

func (o Options) resource() *resource.Resource {
	name := o.Settings.Service
	if name == "" {
		name = o.Service
	}
	if name == "" {
		name = "belfry"
	}
	all := []attribute.KeyValue{attribute.String("service.name", name), attribute.String("telemetry.sdk.language", "go"), attribute.String("telemetry.sdk.name", "opentelemetry")}
	if o.Version != "" {
		all = append(all, attribute.String("service.version", o.Version))
	}
	for k, v := range o.About {
		all = append(all, attribute.String(k, v))
	}
	return resource.NewSchemaless(all...)
}

// Install makes the provider that of the whole process, so that what handlers
// measure by OpenTelemetry's own functions is exported, too. For mains alone.
func (e *Export) Install() {
	if e != nil {
		otel.SetTracerProvider(e.provider)
	}
}

// failing notes what became of each batch. The SDK is told of no error: it would
// print it past the log.
type failing struct {
	sdk.SpanExporter
	export *Export
}

// ExportSpans implements the SDK's exporter.
func (f failing) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if err := f.SpanExporter.ExportSpans(ctx, spans); err != nil {
		f.export.failed(err, len(spans))
		return nil
	}
	f.export.rests.Store(0)
	return nil
}

// failed lets the collector rest, and says so at most once in that time.
func (e *Export) failed(err error, spans int) {
	now := e.clock.Now()
	e.rests.Store(now.Add(restFor).UnixNano())
	last := e.told.Load()
	if now.UnixNano()-last < int64(restFor) && last != 0 || !e.told.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	e.log.Warn("spans were not taken by the collector and are dropped", slog.String("endpoint", e.client.endpoint.Redacted()), slog.Int("spans", spans), slog.Any("error", err))
}

// Flush sends what has ended, and waits for it at most half a second: a function
// is frozen after its invocation. A collector that failed a moment ago is not
// waited for.
func (e *Export) Flush(ctx context.Context) {
	if e == nil {
		return
	}
	if now := e.clock.Now(); now.UnixNano() < e.rests.Load() {
		return
	}
	bounded, stop := context.WithTimeout(ctx, flushWithin)
	defer stop()
	if err := e.provider.ForceFlush(bounded); err != nil {
		e.failed(err, 0)
	}
}

// Close sends what is left, within ctx and the time of one request, and ends the
// export.
func (e *Export) Close(ctx context.Context) {
	if e == nil {
		return
	}
	bounded, stop := context.WithTimeout(ctx, 4*flushWithin)
	defer stop()
	if err := e.provider.Shutdown(bounded); err != nil {
		e.failed(err, 0)
	}
}
