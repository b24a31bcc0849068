// Package template fills in values of an execution where a job's texts ask for
// them: {{ scheduled_time | date '%Y-%m-%d' }}. docs/targets.md has the whole of it.
//
// What happens to the data here: a text is parsed into literal parts and
// expressions; an expression is a name, a member of the payload or a literal, and
// filters that each make a value into another. Everything that can be wrong is
// told when the job is saved: unknown names and filters, filters that do not fit
// their value, members that the payload does not have.
//
// Who calls: pkg/job, when a job is saved and when an attempt begins.
//
// What it must never do: run anything. There are no loops, conditions, calls or
// assignments, nothing that is filled in is read as a template again, and the
// length of what comes out is bounded.
package template
