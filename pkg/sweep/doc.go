// Package sweep walks over all jobs when something must be done to many of them
// that no person asked for and no time makes due.
//
// Two things are done so. When a build with a newer time zone database has begun
// to tick, the next time is computed anew of each enabled job that hangs on a
// zone: that of its cron expression, or of a calendar that it keeps to. And once a day what
// is left of deleted jobs goes, when nothing of their history is left.
//
// The tick that fanned its minute out calls Step, which works for some seconds and
// leaves off; the next minute's goes on. How far a walk has come is one item of the
// control table, written by compare-and-set: two ticks that sweep at the same time
// repeat each other's page, which changes nothing, and one of them stops.
//
// What happens to a job whose next time moved is what an edit does to it that
// leaves its definition alone: a new epoch, a new revision with the database's
// version, executions made ahead whose time is gone withdrawn by the same claim
// rule. Only where the cursor goes differs: an edit begins anew from its own
// moment, here no time between the last one that came and the next may be lost. So
// the cursor can go back, which a new epoch allows, and a time that has moved into
// the past is found late by the next scan, for the misfire policy. What was made
// ahead and still is a time of the schedule keeps its execution: the new revision's
// carry bound covers it.
//
//	dies after            what is there                    who carries on
//	a job's write         the job is done                  the page is repeated, and finds it done
//	the write, before     an execution made ahead          its claim, which the epoch refuses
//	its withdrawals         whose time is gone
//	a page                the place of the page before     the next tick repeats it
//
// What it must never do: decide by an older database than the one noted, touch a
// job in the middle of a late plan or of a gap, or take anything of a job that
// could be made to run again.
package sweep
