// Package idempotent is the kit for handlers whose effect must stand once,
// although an execution may run more than once and a worker that was taken for
// dead may wake up. It holds the words; the tools are in a package for each kind
// of outside system, so that a handler links only what it uses:
//
//   - dynamo: inbox and fenced writes in DynamoDB, also within a transaction
//   - postgres: inbox, business keys and fenced writes with pgx
//   - sqldb: the same through database/sql
//   - object: fenced writes in S3
//
// Two questions, two tools. "Was this already done?" is answered by an inbox:
// an Action has a key that is the same for every attempt and every replay, and
// the first who enters it wins. "May I still write?" is answered by a Fence: what
// is written keeps the highest one, and a lower one is refused with a StaleError.
// docs/idempotency.md says which one is for what.
//
// What happens to the data here: the handler's writes get a condition and a mark
// of who wrote, and go where the handler would have sent them.
//
// Who calls: handlers.
//
// What it must never do: read a clock, draw a random number, hold anything of its
// own between two calls, or take an effect for done that it did not see stored.
//
// | crash after                       | what is there                       | who repairs it                                                    |
// |-----------------------------------|-------------------------------------|-------------------------------------------------------------------|
// | entered, in a transaction         | nothing: it is rolled back          | the next attempt enters it                                        |
// | effect, in the same transaction   | nothing: it is rolled back          | the next attempt does it                                          |
// | commit, answer lost               | action and effect                   | the next attempt finds it Existing and returns its result         |
// | dynamo.Begin                      | an action without a result          | the next attempt finds it Unfinished and asks the outside first   |
// | the effect outside, before Finish | the same                            | the same                                                          |
// | object.Publish, bytes             | bytes that nothing points to        | the next attempt publishes its own; nobody ever reads those       |
// | object.Publish, pointer           | the pointer                         | the next attempt publishes the same again                         |
package idempotent
