// Package parts holds what the stacks are built from. A part cannot be made
// without what it needs to be run in earnest: a work queue has its isolation
// queue, its dead-letter queue and their alarms; a function its own log group
// with a retention, a role of its own, traces, and an alarm on its errors; a
// table its recovery, encryption and protection.
//
// What it must never do: give a role a right that its caller did not name, or
// make constructs in the order of a Go map.
package parts
