package events_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"testing"

	lambda "github.com/aws/aws-lambda-go/events"

	"github.com/belfry-scheduler/belfry/functions"
	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestTheEventsOfThePlatformComeBackAsTheyWere(t *testing.T) {
	roundTrip(t, "schedule-event/sample.json", new(lambda.EventBridgeEvent))
	roundTrip(t, "queue-event/sample.json", new(lambda.SQSEvent))
	roundTrip(t, "http-request/sample.json", new(lambda.APIGatewayV2HTTPRequest))
	roundTrip(t, "stream-event/sample.json", new(lambda.DynamoDBEvent))
}

func TestTheScheduleEventTicks(t *testing.T) {
	s := newStation(t, assemble.Environment{})
	if _, err := functions.Tick(s.Installation)(t.Context(), sample(t, "schedule-event/sample.json")); err != nil {
		t.Fatal(err)
	}
	if won, err := s.Store.WinTick(t.Context(), s.clock.Now(), "another tick of the minute"); err != nil || won {
		t.Errorf("another tick wins the minute: %v, %v; want it fanned out already", won, err)
	}
}

// An absent execution has ended long ago: its message is deleted. What a newer
// build wrote stays.
func TestTheQueueEventIsCarriedThrough(t *testing.T) {
	s := newStation(t, assemble.Environment{RestoreEpoch: 1})
	work, err := functions.Work(s.Installation)
	if err != nil {
		t.Fatal(err)
	}
	var e lambda.SQSEvent
	if err := json.Unmarshal(sample(t, "queue-event/sample.json"), &e); err != nil {
		t.Fatal(err)
	}
	var inside, alone any
	if err := json.Unmarshal([]byte(e.Records[0].Body), &inside); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(sample(t, "work-message/sample.json"), &alone); err != nil || !reflect.DeepEqual(inside, alone) {
		t.Errorf("the event carries %s, which is not the sample of a work message", e.Records[0].Body)
	}
	newer := e.Records[0]
	newer.MessageId, newer.Body = "newer", string(sample(t, "work-message/newer-schema.json"))
	e.Records = append(e.Records, newer)
	response, err := work(t.Context(), e)
	want := []lambda.SQSBatchItemFailure{{ItemIdentifier: "newer"}}
	if err != nil || !reflect.DeepEqual(response.BatchItemFailures, want) {
		t.Errorf("answered %v, %v; want only the newer message to stay", response.BatchItemFailures, err)
	}
}

func TestTheHTTPRequestMakesTheJobInItsCallersName(t *testing.T) {
	s := newStation(t, assemble.Environment{})
	var e lambda.APIGatewayV2HTTPRequest
	if err := json.Unmarshal(sample(t, "http-request/sample.json"), &e); err != nil {
		t.Fatal(err)
	}
	answer, err := functions.API(s.Installation)(t.Context(), e)
	if err != nil || answer.StatusCode != http.StatusCreated {
		t.Fatalf("answered %d, %v: %s", answer.StatusCode, err, answer.Body)
	}
	made, err := s.Control.Get(t.Context(), job.Ref{Tenant: job.DefaultTenant, Job: "nightly"})
	if err != nil || made.Head.ChangedBy != "arn:aws:iam::123456789012:user/ada" {
		t.Errorf("the job is %+v, %v; want it made by ada", made, err)
	}
}

// refusal is the problem that the API answers to the sample's request with
// another body.
func refusal(t *testing.T, body string) []byte {
	t.Helper()
	s := newStation(t, assemble.Environment{})
	var e lambda.APIGatewayV2HTTPRequest
	if err := json.Unmarshal(sample(t, "http-request/sample.json"), &e); err != nil {
		t.Fatal(err)
	}
	e.Body = body
	answer, err := functions.API(s.Installation)(t.Context(), e)
	if err != nil || answer.Headers["Content-Type"] != "application/problem+json" {
		t.Fatalf("answered %d %v, %v: %s", answer.StatusCode, answer.Headers, err, answer.Body)
	}
	var p client.Problem
	if err := json.Unmarshal([]byte(answer.Body), &p); err != nil || p.Status != answer.StatusCode || p.RequestID == "" {
		t.Errorf("the problem is %s, %v; want the status %d and an id in it", answer.Body, err, answer.StatusCode)
	}
	p.RequestID = "9f86d081884c7d65" // drawn anew for each request
	return indented(t, p)
}

func TestAProblemIsWhatTheAPIAnswers(t *testing.T) {
	golden(t, "problem/sample.json", refusal(t, `{"schedule":{"cron":"61 1 * * *"},"target":{"log":{}}}`))
	golden(t, "problem/several-faults.json", refusal(t, `{"schedule":{"cron":"30 1 * * *"},"targets":{"log":{}},"retry":{"max_attempts":"many"}}`))
	for _, path := range []string{"problem/sample.json", "problem/several-faults.json"} {
		roundTrip(t, path, new(client.Problem))
	}
}
