// Command archive is the function behind the streams of the executions and the control
// table: it keeps transitions and audit entries in a bucket before the tables forget them.
package main

import (
	"errors"

	"github.com/belfry-scheduler/belfry/functions"
	"github.com/belfry-scheduler/belfry/pkg/archive/bucket"
)

func main() {
	functions.Main(func(i *functions.Installation) (any, error) {
		name := i.Environment.ArchiveBucket
		if name == "" {
			return nil, errors.New("BELFRY_ARCHIVE_BUCKET names no bucket to archive to")
		}
		return functions.Archive(i, bucket.New(i.AWS, name)), nil
	})
}
