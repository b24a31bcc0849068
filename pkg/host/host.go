// Package host runs handlers: in a Lambda function or in a container, whichever the
// process is started as. The main of a team's worker is one line:
//
//	func main() { os.Exit(host.Main(orders.Register)) }
//
// What happens to the data here: nothing.
package host

import (
	"os"

	"github.com/belfry-scheduler/belfry/pkg/host/container"
	"github.com/belfry-scheduler/belfry/pkg/host/function"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// Main serves the queues that the environment names (docs/environment.md) with the
// handlers that register adds, beside the targets that ship. As a Lambda function it
// ends with its process; as a container it serves until SIGTERM, drains, and returns
// the code to exit with.
func Main(register func(*worker.Worker)) (exitCode int) {
	if isFunction(os.LookupEnv) {
		function.Main(register)
		return 0
	}
	return container.Main(register)
}

// isFunction tells whether the platform is Lambda's: it names its runtime's API.
func isFunction(lookup func(string) (string, bool)) bool {
	api, _ := lookup("AWS_LAMBDA_RUNTIME_API")
	return api != ""
}
