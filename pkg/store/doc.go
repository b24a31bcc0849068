// Package store is DynamoDB, the only storage there is: keys, codecs, and one
// file per access pattern, so that the listing of this folder is the list of
// access patterns. Above every expression stands its contract: what it
// Requires, what it Writes, when it Loses, and what Then the caller does.
//
// Rules that hold in every file:
//
//   - Existing items are changed by updates only, so attributes of a newer build
//     survive an older one.
//   - Every write is fenced: by epoch and cursor on a head, by owner and token on
//     a running execution, by exactly what was seen on any other.
//   - A write may be applied although its answer was lost; the retry then fails its
//     own condition. Each file says how its caller recognises its own write.
//   - A failed condition is job.ErrLost, never a fault.
//
// | table      | partition  | sort                          | holds |
// |------------|------------|-------------------------------|-------|
// | jobs       | tenant/job | HEAD                          | the head; in index due while it has a cursor, in bytenant always |
// | jobs       | tenant/job | REV#000007                    | one immutable revision |
// | executions | tenant/job | 20260712T013000Z#s            | one execution; in index wake only while it has a wake-up |
// | executions | tenant/job | 20260712T013000Z#s#H#00001    | a timeline entry that fell out of the execution |
// | executions | tenant/job | 20260712T013000Z#s#C          | how far it has come, as its handler saved it |
// | control    | BREAKER#tenant | resource                  | the circuit breaker of what attempts call |
// | control    | TICK#…     | -                             | who fanned a minute out |
// | control    | LAYOUT     | -                             | the live shard layouts |
// | control    | AUDIT#…    | time#epoch#…                  | who changed a job, or did something about an execution |
// | control    | REC#…, DEAD#…, REVIEW#… | time#…           | lists for people, written by the stream consumer |
package store
