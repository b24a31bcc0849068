// Package pgserver starts a real PostgreSQL for the tests of the packages beside
// it: one server for a test binary, in a directory of its own, on a socket that
// nobody else can reach.
//
// What happens to the data here: it lies in a temporary directory, is not even
// synced to disk, and goes with the server. The server dies with the test binary,
// also when that is killed.
//
// Who calls: TestMain of those packages.
//
// What it must never do: be part of a program, listen on a port, or let a test
// pass where no PostgreSQL is.
package pgserver
