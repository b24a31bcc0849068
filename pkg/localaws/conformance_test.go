package localaws_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/localaws/conformance"
)

func TestSQSConformance(t *testing.T) {
	conformance.Run(t, conformance.SQSCases(), nil, func(t *testing.T, run func(context.Context, *testing.T, conformance.Env)) {
		synctest.Test(t, func(t *testing.T) {
			backend, err := localaws.New(localaws.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = backend.Close() }()
			run(t.Context(), t, conformance.Env{SQS: sqs.NewFromConfig(backend.Config()), Prefix: "c-"})
		})
	})
}
