package dev

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/objects"
)

// Bucket holds the objects of the process, which are too large for a table.
const Bucket = "belfry"

// objects is that bucket for the planes.
func (s *server) objects() *objects.Bucket {
	return objects.New(s3.NewFromConfig(s.backend.Config()), Bucket)
}

// payloadRules open all that lies in the process: it serves one person.
var payloadRules = job.PayloadRules{Own: Bucket, Allowed: map[string][]string{"*": {"s3://" + Bucket + "/"}}}

// payloads reads what jobs refer to.
func (s *server) payloads() *objects.Payloads {
	return objects.NewPayloads(s3.NewFromConfig(s.backend.Config()), payloadRules)
}

// uploads signs uploads to the endpoint at that address.
func (s *server) uploads(endpoint string) *objects.Uploads {
	config := s.backend.Config()
	config.BaseEndpoint = &endpoint
	return objects.NewUploads(objects.NewClient(config), s.planes.Settings.Clock.Now)
}

// ensureBucket makes the bucket unless it is there.
func (s *server) ensureBucket(ctx context.Context) error {
	_, err := s3.NewFromConfig(s.backend.Config()).CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String(Bucket)})
	if err != nil {
		return fmt.Errorf("make the bucket %s: %w", Bucket, err)
	}
	return nil
}
