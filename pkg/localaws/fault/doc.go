// Package fault puts faults between an SDK client and a backend, at calls that
// a test chooses.
//
// What happens to the data here: a Client numbers the calls of one simulated
// process and asks a function what becomes of each: it passes, is throttled,
// fails before anything is written, is carried out and its answer lost, or is
// the last thing the process ever does. Nothing else is changed, so the
// SDK's own retries, backoff and error types are what the code under test
// sees.
//
// Who calls: tests and simulation, which give the Client to aws.Config as its
// HTTPClient. What it must never do: decide by chance or by the clock. The
// same decisions on the same calls give the same run.
package fault
