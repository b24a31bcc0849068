// Package sqldb holds the tools of package idempotent for PostgreSQL through
// database/sql, whatever the driver: an inbox whose entries stand in the caller's
// own transaction (Once, or Enter and Keep), rows with a business key that say
// whether they are new (Insert), and fences (Hold, Update). Package postgres is the
// same with pgx, and says how it behaves towards workers that freeze.
//
// The SQL is PostgreSQL's: $1, ON CONFLICT, RETURNING. Databases that speak it, too,
// have not been tried.
//
// What happens to the data here: it goes into the caller's transaction and stands
// or falls with it.
//
// What it must never do: bring a driver, write outside of the caller's transaction,
// or commit one that it did not begin.
package sqldb
