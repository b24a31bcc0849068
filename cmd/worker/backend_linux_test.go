package main

import (
	"net"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/localaws/localawstest"
)

// backend serves AWS on a socket, and points the SDK's environment to it.
func backend(t *testing.T) *assemble.Belfry {
	t.Helper()
	local := localawstest.Serve(t)
	clients := assemble.Clients{DynamoDB: dynamodb.NewFromConfig(local.Config()), SQS: sqs.NewFromConfig(local.Config())}
	b := assemble.New(clients, assemble.Settings{})
	if err := b.Ensure(t.Context(), clients); err != nil {
		t.Fatal(err)
	}
	return b
}

// freePort is an address on loopback that nobody listens at.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
