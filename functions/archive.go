package functions

import (
	"github.com/belfry-scheduler/belfry/pkg/archive"
)

// Archive is the handler of the function behind the streams of the executions
// and the control table that keeps what they tell in objects.
func Archive(i *Installation, objects archive.Objects) StreamHandler {
	return (&archive.Archiver{Objects: objects, Log: i.Log}).Handle
}
