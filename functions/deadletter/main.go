// Command deadletter is the function behind the dead-letter queues.
package main

import "github.com/belfry-scheduler/belfry/functions"

func main() {
	functions.Main(func(i *functions.Installation) (any, error) { return functions.DeadLetter(i) })
}
