// Command worker is the container worker: it serves the queues of one pool or
// of all, with the targets that Belfry ships, until it is told to stop.
//
// Handlers of one's own run in a main of one's own: see package host.
package main

import (
	"os"

	"github.com/belfry-scheduler/belfry/pkg/host/container"
)

func main() { os.Exit(container.Main()) }
