// Command work is the function behind the work queues: it runs executions.
package main

import (
	"context"

	"github.com/belfry-scheduler/belfry/functions"
)

func main() {
	functions.Main(func(i *functions.Installation) (any, error) {
		if err := fetchKey(context.Background(), i); err != nil {
			return nil, err
		}
		return functions.Work(i)
	})
}
