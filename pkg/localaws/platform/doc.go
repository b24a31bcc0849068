// Package platform starts functions as AWS does: on messages of a queue, on
// records of a table's stream, on each minute, and on HTTP requests.
//
// What happens to the data here: messages, records, minutes and requests are
// turned into the events that Lambda would pass, down to the names of
// attributes; what a function returns decides what is deleted, what stays and
// what is tried again, by Lambda's rules.
//
// Who calls: `belfry dev` and simulation, which hand in the functions and SDK
// clients. Everything is driven by the SDK, so it works against AWS too.
//
// What it must never do: know what a function is for, help it beyond what the
// platform would do, or outlive its context: a driver that is told to stop
// takes nothing new, lets what is in hand finish, and returns.
//
// Unlike Lambda, a process cannot kill a function that overruns its timeout.
// Its context has ended and its result no longer counts, but it may still
// act, as a frozen sandbox may when it thaws. Drivers wait for it before they
// return.
package platform
