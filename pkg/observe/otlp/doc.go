// Package otlp sends spans to a collector by the OpenTelemetry protocol over
// HTTP (protobuf), as the standard variables OTEL_… say.
//
// What happens to the data here: spans that have ended wait in a bounded queue;
// a goroutine sends them in batches, a function's invocation flushes them before
// it ends. What the queue cannot hold is dropped, and so is what a collector does
// not take in time.
//
// Who calls: the mains, through pkg/assemble; tests of the whole. Planes see the
// Tracer alone.
//
// What it must never do: fail or delay an execution. A flush has a bound, and a
// collector that failed is left alone for a while; errors are logged, seldom.
//
// The protocol's own exporter is not used: it brings gRPC with it, and is then
// three times as large as this package and the SDK.
package otlp
