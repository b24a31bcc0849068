// Command handlers is a worker with handlers of its own, as a team has one. The test
// of the deployed stacks runs it as a container beside them.
package main

import (
	"os"

	"github.com/belfry-scheduler/belfry/pkg/host"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

func main() { os.Exit(host.Main(register)) }

func register(w *worker.Worker) {
	worker.HandleTyped(w, "copy", copyRows)
	worker.HandleTyped(w, "spread", spread)
	worker.HandleTyped(w, "square", square)
	worker.HandleTyped(w, "gather", gather)
}
