// Package holidays turns iCalendar files (.ics), as states, schools and
// companies publish their holidays, into calendars of pkg/schedule.
//
// Bytes of a file go in, a schedule.Calendar of whole days comes out; the
// command line calls. It reads no file and asks no network by itself, and it
// must never drop an event silently: a day of rest on which a job runs after all
// is noticed too late. What is no whole day, or repeats in a way that is not
// understood, refuses the file with the event's name.
package holidays
