// Package cost computes what an installation costs in a month, line by line as
// AWS bills it, and what the same schedule would cost elsewhere.
//
// What happens to the data here: an Input (how many jobs, how often, how long) is
// multiplied by three tables and nothing else. Measured holds the units that
// Belfry spends, as cmd/bench counts them; a test runs the bench and compares.
// Assumed holds what cannot be counted on this side of AWS (how often an idle
// queue is polled, how long a function takes), each with its reason. Prices are
// list prices of us-east-1, each with its source and the day on which it was
// looked up.
//
// Who calls: cmd/belfry (`belfry cost`); docs/cost.md and the README's table are
// made here too.
//
// What it must never do: call anything, hide an estimate among what was measured,
// or leave out a line because it makes Belfry look dear. Where another service is
// cheaper the answer says so.
package cost
