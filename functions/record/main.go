// Command record is the function behind the stream of the executions table: it keeps the
// lists that people read.
package main

import "github.com/belfry-scheduler/belfry/functions"

func main() {
	functions.Main(func(i *functions.Installation) (any, error) { return functions.Record(i), nil })
}
