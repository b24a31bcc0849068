// Command work is the function behind the work queues: it runs executions.
package main

import "github.com/belfry-scheduler/belfry/pkg/host/function"

func main() { function.Main() }
