// Package sim runs the whole topology in virtual time: a minute schedule, ticks,
// scanners, workers and dead-letter consumers as processes of their own, each
// with its own SDK clients over the local backend in memory, inside a
// testing/synctest bubble. The code under simulation is unchanged.
//
// Each process can be given faults at its calls (package fault): throttled,
// failed, applied with the answer lost, or the last thing it ever does; a
// crashed process is started anew after a second, as a new incarnation that
// knows nothing. At the end Check judges the invariants of the design on what is
// stored, on every change that the table's stream has seen, and on what ran.
package sim
