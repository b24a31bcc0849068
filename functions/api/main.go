// Command api is the function behind API Gateway: the REST API.
package main

import (
	"github.com/belfry-scheduler/belfry/functions"
	"github.com/belfry-scheduler/belfry/pkg/objects"
)

func main() {
	functions.Main(func(i *functions.Installation) (any, error) {
		if i.Environment.Bucket != "" {
			i.Control.Uploads = objects.NewUploads(objects.NewClient(i.AWS), i.Settings.Clock.Now)
		}
		return functions.API(i), nil
	})
}
