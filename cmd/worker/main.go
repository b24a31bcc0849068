// Command worker is the container worker: it serves the queues of one pool or
// of all, with the targets that Belfry ships, until it is told to stop.
//
// To run handlers of your own in a container, copy this command and register
// them in wire, beside the targets.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal drains; from then on a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
