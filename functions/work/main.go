// Command work is the function behind the work queues: it runs executions.
package main

import "github.com/belfry-scheduler/belfry/functions"

func main() {
	functions.Main(func(i *functions.Installation) (any, error) { return functions.Work(i) })
}
