// Package statement holds the SQL of the packages postgres and sqldb, which differ
// in the driver alone.
//
// What happens to the data here: texts are put together from what a handler's
// author wrote as constants; values stay arguments.
//
// Who calls: postgres and sqldb.
//
// What it must never do: reach a database, or put a value into a text.
package statement
