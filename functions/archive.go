package functions

import (
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/belfry-scheduler/belfry/pkg/archive"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Archive is the handler of the function behind the streams of the executions
// and the control table, which keeps what they tell in the bucket that the
// environment names. open reaches it; it is a parameter so that no other function
// carries what S3 needs.
func Archive(i *Installation, open func(c aws.Config, bucket string) archive.Objects) (StreamHandler, error) {
	name := i.Environment.ArchiveBucket
	if name == "" {
		return nil, &job.Error{Code: job.CodeInvalid, Field: "BELFRY_ARCHIVE_BUCKET", Bound: "the name of an S3 bucket", Message: "there is no bucket to archive to",
			Fix: "set the variable, or do not deploy this function"}
	}
	return (&archive.Archiver{Objects: open(i.AWS, name), Log: i.Log, Metrics: i.Settings.Metrics}).Handle, nil
}
