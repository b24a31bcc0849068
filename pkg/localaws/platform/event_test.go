package platform_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// golden compares an event with the file, as indented JSON. UPDATE_GOLDEN=1
// writes the file.
func golden(t *testing.T, name string, event any) {
	t.Helper()
	got, err := json.MarshalIndent(event, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, append(got, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got)+"\n" != string(want) {
		t.Errorf("event is\n%s\nwant %s:\n%s", got, path, want)
	}
}

func TestSQSEventIsWhatLambdaPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got events.SQSEvent
		s := newStation(t, func(_ context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
			got = e
			return events.SQSEventResponse{}, nil
		})
		_, err := s.client.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: &s.queue, MessageBody: aws.String(`{"execution":"nightly"}`), MessageGroupId: aws.String("tenant-1"),
			MessageAttributes: map[string]types.MessageAttributeValue{
				"text":   {DataType: aws.String("String"), StringValue: aws.String("ä")},
				"count":  {DataType: aws.String("Number"), StringValue: aws.String("42")},
				"binary": {DataType: aws.String("Binary"), BinaryValue: []byte{0, 1, 0xff}},
			},
			MessageSystemAttributes: map[string]types.MessageSystemAttributeValue{
				"AWSTraceHeader": {DataType: aws.String("String"), StringValue: aws.String("Root=1-5759e988-bd862e3fe1be46a994272793")},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		s.runFor(time.Second)
		golden(t, "sqs.json", got)
	})
}
