// Package function runs a worker as a Lambda function: functions/work is made of it,
// and so is the function of a team that has handlers of its own.
//
// What happens to the data here: nothing. It gives the function what no other carries:
// the clients of targets, of secrets and of S3, and the key that signs webhooks.
package function

import (
	"context"

	"github.com/belfry-scheduler/belfry/functions"
	"github.com/belfry-scheduler/belfry/pkg/objects"
	"github.com/belfry-scheduler/belfry/pkg/target/cloud"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// Main is the main of a function behind work queues; it ends with its process.
// register adds handlers of one's own beside the targets that ship.
func Main(register ...func(*worker.Worker)) {
	functions.Main(func(i *functions.Installation) (any, error) {
		if err := fetchKey(context.Background(), i); err != nil {
			return nil, err
		}
		client := objects.NewClient(i.AWS)
		if name := i.Environment.Bucket; name != "" {
			i.Objects = objects.New(client, name)
		}
		i.Payloads = objects.NewPayloads(client, i.Settings.Payloads)
		account := cloud.New(cloud.Options{AWS: &i.AWS, Installation: i.Environment.Prefix})
		i.ReadSecret = account.ReadSecret
		return functions.Work(i, append(register, account.Register)...)
	})
}
