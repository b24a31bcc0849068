package conformance

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// Case is one sentence about a service, and the SDK calls that show it true.
type Case struct {
	Name string
	Run  func(ctx context.Context, t *testing.T, env Env)
}

// Env is the backend under test.
type Env struct {
	DynamoDB *dynamodb.Client
	Streams  *dynamodbstreams.Client
	SQS      *sqs.Client
	S3       *s3.Client
	Prefix   string // begins the name of every table, queue and bucket that a case makes; unique to the case and the run
}

// Exceptions name the cases that a peer is known to fail, each with the
// reason.
type Exceptions map[string]string

// Run runs each case as a sub-test in an environment of its own. A case that
// has an exception is reported with the reason and not run; an exception that
// names no case fails.
func Run(t *testing.T, cases []Case, exceptions Exceptions, around func(*testing.T, func(context.Context, *testing.T, Env))) {
	t.Helper()
	known := make(map[string]bool, len(cases))
	for _, c := range cases {
		if known[c.Name] {
			t.Errorf("two cases are named %q", c.Name)
		}
		known[c.Name] = true
		if reason, ok := exceptions[c.Name]; ok {
			t.Logf("not run: %s: %s", c.Name, reason)
			continue
		}
		t.Run(c.Name, func(t *testing.T) { around(t, c.Run) })
	}
	for name := range exceptions {
		if !known[name] {
			t.Errorf("an exception names %q, which is no case", name)
		}
	}
}
