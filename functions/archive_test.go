package functions_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/belfry-scheduler/belfry/functions"
	"github.com/belfry-scheduler/belfry/pkg/archive"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// refusing is a bucket that takes nothing.
type refusing struct{ bucket string }

func (r refusing) Put(context.Context, string, []byte) error {
	return errors.New(r.bucket + " is full")
}

func openRefusing(_ aws.Config, bucket string) archive.Objects { return refusing{bucket} }

// audited is a stream's event of one audit entry.
const audited = `{"Records":[{"eventID":"e1","eventName":"INSERT","dynamodb":{"SequenceNumber":"7","ApproximateCreationDateTime":1783857601,` +
	`"NewImage":{"pk":{"S":"AUDIT#default/x"},"sk":{"S":"1783857601000#1"},"verb":{"S":"pause"},"at":{"N":"1783857601000"}}}}]}`

func TestTheArchiveDoesNotStartWithoutABucket(t *testing.T) {
	var refusal *job.Error
	if _, err := functions.Archive(newTown(t).Installation, openRefusing); !errors.As(err, &refusal) || !strings.Contains(err.Error(), "BELFRY_ARCHIVE_BUCKET") {
		t.Errorf("refused with %v, want an error that names the variable", err)
	}
}
