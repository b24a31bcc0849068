//go:build !conformance

package object_test

import (
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/object"
)

// backend lives as long as the tests do; it is in memory.
var backend, backendErr = localaws.New(localaws.Options{})

// service is the local backend's. With the tag conformance it is a peer's.
func service() (*s3.Client, error) {
	if backendErr != nil {
		return nil, backendErr
	}
	return s3.NewFromConfig(backend.Config()), nil
}

// sideBySide is for writes that meet.
func sideBySide(client *s3.Client) object.Client { return client }
