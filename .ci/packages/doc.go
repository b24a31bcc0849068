// Command packages measures what is deployed as functions: how large each package
// is, zipped as the deployment zips it, and how long a start takes until the
// function asks for its first event.
//
// A package over the budget ends the command with 1: its size is the same
// wherever it is measured. A slow start is only told, since it says as much about
// the machine, and what else it does, as about the function.
package main
