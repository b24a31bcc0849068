package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // from then on a second signal ends the process at once
	code := run(ctx, &app{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv, now: time.Now, local: localZone(),
		color: isTerminal(os.Stdout) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}, os.Args[1:])
	stop()
	os.Exit(code)
}

// isTerminal reports whether a person reads f.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// localZone is the person's own zone; one that is UTC under another name is
// shown as UTC.
func localZone() *time.Location {
	if name, _ := time.Now().Zone(); name == "UTC" {
		return time.UTC
	}
	return time.Local
}
