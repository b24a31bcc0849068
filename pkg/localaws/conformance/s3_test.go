package conformance_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/localaws/conformance"
)

func TestS3InMemory(t *testing.T) {
	conformance.Run(t, conformance.S3Cases(), nil, func(t *testing.T, run func(context.Context, *testing.T, conformance.Env)) {
		synctest.Test(t, func(t *testing.T) { onLocalS3(t, localaws.Options{}, run) })
	})
}

func TestS3OnDisk(t *testing.T) {
	conformance.Run(t, conformance.S3Cases(), nil, func(t *testing.T, run func(context.Context, *testing.T, conformance.Env)) {
		onLocalS3(t, localaws.Options{Dir: t.TempDir()}, run)
	})
}

func onLocalS3(t *testing.T, options localaws.Options, run func(context.Context, *testing.T, conformance.Env)) {
	t.Helper()
	backend, err := localaws.New(options)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = backend.Close() }()
	run(t.Context(), t, conformance.Env{S3: s3.NewFromConfig(backend.Config()), Prefix: "c-"})
}

// byPath is a client of an endpoint that has the bucket in the path.
func byPath(config aws.Config) *s3.Client {
	return s3.NewFromConfig(config, func(o *s3.Options) { o.UsePathStyle = true })
}
