// Command bench measures Belfry against its budgets.
//
//	bench [budget | idle | precision | burst | throughput]
//
// Every measurement runs the planes, functions and workers that a deployment
// runs, through the real AWS SDK, on the local backend in memory. What can be
// counted is counted and the same at every run: capacity units as the service
// answers them (ConsumedCapacity), and calls of the SDK. What is timed depends on
// the machine and on what else runs there.
//
// Standard output is one JSON document, the tables for people go to standard
// error. The exit code is 1 when a budget is broken or a measurement failed, and
// the budget is named; 2 when the command line names no bench.
//
// What is measured stands in rows; docs/benchmarks.md tells the same and is
// compared with it.
package main
