// Package conformance says what the services do, as SDK calls that run alike
// against the local backend and against its peers.
//
// What happens to the data here: each case makes its own tables, queues and
// buckets under the environment's prefix and leaves them behind.
//
// Who calls: tests, through Run. What it must never do: look behind the SDK,
// depend on another case, or hold for one backend only. Where a peer is known
// to be wrong, the case stays as the service behaves and the peer gets a named
// exception with the reason.
package conformance
