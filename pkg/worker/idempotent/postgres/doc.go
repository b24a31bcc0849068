// Package postgres holds the tools of package idempotent for PostgreSQL with pgx:
// an inbox whose entries stand in the caller's own transaction (Once, or Enter and
// Keep), rows with a business key that say whether they are new (Insert), and
// fences (Hold, Update). Package sqldb is the same through database/sql.
//
// The tables of Schema must be there: Once, Enter, Keep and Hold use them. Insert and
// Update work on the caller's own tables.
//
// Who holds an action or a fence in an open transaction makes others wait until it
// ends. A worker that freezes there is ended by the server's
// idle_in_transaction_session_timeout, which should be set: shorter than the lease
// is good. What it has done is rolled back, and its commit fails.
//
// What happens to the data here: it goes into the caller's transaction and stands
// or falls with it. Under REPEATABLE READ and SERIALIZABLE the server may refuse
// with a serialization failure (40001): return it, the worker tries again.
//
// What it must never do: write outside of the caller's transaction, or commit one
// that it did not begin.
package postgres
