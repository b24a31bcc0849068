// Package httpapi serves the control plane over HTTP: it translates requests
// into verbs of pkg/control and their answers into JSON, and describes itself
// as OpenAPI (docs/openapi.yaml is made from these handlers and compared in a
// test).
//
// What happens to a request, in order: it gets an id; a panic from here on
// becomes a 500 that names only that id; its Host and origin are checked, so
// that a web page cannot drive an API on loopback; its caller is identified;
// its content type, size, keys and values are checked against the schema; one
// verb runs; the answer is written.
//
// Every refusal is a problem (RFC 9457) made from a *job.Error. Its status
// follows from the class of the code:
//
//	refused   422, or 400, 413, 415 when the request itself cannot be read
//	missing   404
//	conflict  409, or 412 when a precondition (If-Match, If-None-Match) failed
//	busy      429 or 503, with Retry-After
//	broken    500, with the request's id and nothing of the inside
//
// DELETE is idempotent: deleting a job that is already deleted answers 204
// again and repeats the clean-up; only a name that never was a job is 404.
// POST …/run and …/replay make a new execution each time, unless an Idempotency-Key
// tells that it was asked for before. All other verbs may be repeated.
//
// The package holds no rule of its own about jobs or executions: whatever it
// would need to know is a verb of the control plane. It never reads a clock or
// randomness that it was not given.
package httpapi
