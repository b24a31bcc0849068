// Command tick is the function that fans a minute out; EventBridge Scheduler and the tick
// queue invoke it.
package main

import "github.com/belfry-scheduler/belfry/functions"

func main() {
	functions.Main(func(i *functions.Installation) (any, error) { return functions.Tick(i), nil })
}
