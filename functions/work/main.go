// Command work is the function behind the work queues: it runs executions.
package main

import (
	"context"

	"github.com/belfry-scheduler/belfry/functions"
	"github.com/belfry-scheduler/belfry/pkg/target/cloud"
)

func main() {
	functions.Main(func(i *functions.Installation) (any, error) {
		if err := fetchKey(context.Background(), i); err != nil {
			return nil, err
		}
		account := cloud.New(cloud.Options{AWS: &i.AWS, Installation: i.Environment.Prefix})
		i.ReadSecret = account.ReadSecret
		return functions.Work(i, account.Register)
	})
}
