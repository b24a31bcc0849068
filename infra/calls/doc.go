// Package calls reads from the source which calls of AWS a program can make, so
// that the rights of its role can be held against them.
//
// What happens to the data here: the packages of the root module are type
// checked; from main on, every function that a reached function mentions counts
// as reached, and so does every method of ours behind an interface method that
// is mentioned. That finds more than will ever be called, and never less.
//
// What it must never do: run any of the code.
package calls
