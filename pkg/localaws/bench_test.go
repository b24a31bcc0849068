package localaws_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/localaws"
)

// stub answers every call at once: what is left is the SDK itself.
type stub struct{}

func (stub) Do(request *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: request}, nil
}

// BenchmarkSend shows what a call costs beside the SDK's own part.
func BenchmarkSend(b *testing.B) {
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = backend.Close() }()
	config := backend.Config()
	queue, err := sqs.NewFromConfig(config).CreateQueue(b.Context(), &sqs.CreateQueueInput{QueueName: aws.String("q")})
	if err != nil {
		b.Fatal(err)
	}
	for name, client := range map[string]aws.HTTPClient{"backend": config.HTTPClient, "stub": stub{}} {
		b.Run(name, func(b *testing.B) {
			config.HTTPClient = client
			api := sqs.NewFromConfig(config)
			for b.Loop() {
				if _, err := api.SendMessage(b.Context(), &sqs.SendMessageInput{QueueUrl: queue.QueueUrl, MessageBody: aws.String(strings.Repeat("x", 200))}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
