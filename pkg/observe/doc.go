// Package observe is how an installation tells figures about itself. One list
// in code (Metrics) says of each figure what it means, in which unit, by which
// dimensions and who emits it; dashboard, alarms and docs/metrics.md are made
// from that list, so none of them can speak of a figure that nobody emits.
//
// What happens to the data here: the functions count and observe into a Batch
// while they work; Flush writes it as a few lines in CloudWatch's embedded metric
// format, and CloudWatch Logs turns the lines into metrics. No call is made.
//
// Who calls: the trigger plane (tick, scan), pkg/record and the functions. The
// stack makes dashboard and alarms out of Dashboard and Alarms.
//
// The same room makes the spans of executions (Tracer): planes and targets say
// what begins and ends, and nothing here knows where spans go. That is otlp's,
// which mains choose.
//
// What it must never do: take a tenant, a job or an execution as a dimension
// (each value of a dimension is a metric to be paid for, for ever), fail or delay
// what it counts, or cost anything when it is off: a nil Emitter and its nil
// batches take every call and do nothing, as do a nil Tracer and its spans. A span
// says ids, statuses and codes; never a payload, a header or an error's text.
package observe
