//go:build conformance

package object_test

import (
	"context"
	"errors"
	"os"
	"sync"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/object"
)

// service is at the endpoint that BELFRY_CONFORMANCE_ENDPOINT names.
func service() (*s3.Client, error) {
	endpoint := os.Getenv("BELFRY_CONFORMANCE_ENDPOINT")
	if endpoint == "" {
		return nil, errors.New("BELFRY_CONFORMANCE_ENDPOINT must name the peer; `make conformance` starts one")
	}
	return s3.New(s3.Options{Region: "us-east-1", BaseEndpoint: &endpoint, UsePathStyle: true, Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")}), nil
}

// inTurn has one put at a time: the peer looks at a condition and then writes, with
// room for another between the two. What lies between a tool's calls stays open.
type inTurn struct {
	*s3.Client
	turn *sync.Mutex
}

func (c inTurn) PutObject(ctx context.Context, in *s3.PutObjectInput, options ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	c.turn.Lock()
	defer c.turn.Unlock()
	return c.Client.PutObject(ctx, in, options...)
}

// sideBySide is for writes that meet.
func sideBySide(client *s3.Client) object.Client { return inTurn{client, new(sync.Mutex)} }
