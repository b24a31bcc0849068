// Package client speaks Belfry's HTTP API: the values that travel on the wire,
// and one method for each operation.
//
// The values here are the contract. pkg/httpapi answers with the same types, so
// client and server cannot drift apart; docs/openapi.yaml describes them to
// everyone else. Absent values are null on the wire and zero here; times are
// UTC with milliseconds, truncated.
//
// Callers are the command line and Go programs. A refusal of the server comes
// back as *job.Error with the server's code, field, bound and fix; a server that
// cannot be reached as *Unreachable, a gateway in front of it that lets nobody in
// as *Denied. The package never decides anything about
// jobs or executions itself, and it repeats a call only when repeating it cannot
// change what is stored twice.
package client
