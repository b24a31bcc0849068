// Command archive is the function behind the streams of the executions and the control
// table: it keeps transitions and audit entries in a bucket before the tables forget them.
package main

import (
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/belfry-scheduler/belfry/functions"
	"github.com/belfry-scheduler/belfry/pkg/archive"
	"github.com/belfry-scheduler/belfry/pkg/archive/bucket"
)

func main() {
	functions.Main(func(i *functions.Installation) (any, error) {
		return functions.Archive(i, func(c aws.Config, name string) archive.Objects { return bucket.New(c, name) })
	})
}
