package dev

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/belfry-scheduler/belfry/pkg/objects"
)

// Bucket holds the objects of the process, which are too large for a table.
const Bucket = "belfry"

// objects is that bucket for the planes.
func (s *server) objects() *objects.Bucket {
	return objects.New(s3.NewFromConfig(s.backend.Config()), Bucket)
}

// ensureBucket makes the bucket unless it is there.
func (s *server) ensureBucket(ctx context.Context) error {
	_, err := s3.NewFromConfig(s.backend.Config()).CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String(Bucket)})
	if err != nil {
		return fmt.Errorf("make the bucket %s: %w", Bucket, err)
	}
	return nil
}
