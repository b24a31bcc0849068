// Package schedule answers one question: at which instants is a job due?
//
// A job.Schedule goes in, an immutable Plan comes out of Compile. On the way
// the text of a cron expression passes through our own strict grammar (a
// grammar of a dialect yields fields, see fields.go), is written again in a
// normal form, and only that normal form reaches the field engine
// github.com/gorhill/cronexpr. The engine stands behind a wall (wall.go): it
// works on wall-clock time in UTC, where no clock ever jumps, and a copy of it
// serves each call. What a wall-clock time means in a zone is decided here
// (resolve.go): by period of constant offset, under an explicit policy for
// times that a zone leaves out and for times that it repeats.
//
// The zones come from the database embedded in this package, never from the
// machine, so that a revision's TZDBVersion says what its times were computed
// from.
//
// Calendars (calendar.go, excluded.go) leave times out of a plan or move them to
// business days; a job's jitter slot (jitter.go) moves when an execution starts
// and never the time that names it.
//
// The package is pure: it reads no clock, keeps no state but a cache of zones,
// and imports only pkg/job. Control compiles at create and edit and previews;
// trigger asks Next and PlanLate; the API tells what Lint warns of; the command
// line serves questions by line (ServeNext, ServePlans). It must never return a
// time that is not strictly after the one it was asked about, and never panic on
// anything that a user wrote.
package schedule
