package events_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	lambda "github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/belfry-scheduler/belfry/functions"
	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/localaws/platform"
	"github.com/belfry-scheduler/belfry/pkg/record"
)

// attempts is enough for the timeline to overflow.
const attempts = 9

// life carries the nightly execution through failing attempts to its end and
// until its retention is over, and returns the stream's records of it.
func life(t *testing.T) []lambda.DynamoDBEventRecord {
	t.Helper()
	s := newStation(t, assemble.Environment{})
	s.put(t, job.Definition{Target: job.Target{Log: &job.LogTarget{}}, Retry: job.Retry{MaxAttempts: attempts, Base: job.Duration(time.Second), Max: job.Duration(time.Second)}})
	fail := func(context.Context, *execute.Attempt) *lifecycle.Failure {
		return &lifecycle.Failure{Code: "HTTP_503", Text: "try later"}
	}
	for n := range attempts {
		s.clock.set(halfPastOne.Add(time.Duration(2*n) * time.Second))
		m := lifecycle.Message{Ref: nightly, Key: job.ScheduledKey(halfPastOne), Epoch: 1, Receives: n + 1}
		if d := s.Execute(fail).Process(t.Context(), execute.Delivery{Message: m, NotBefore: halfPastOne}); d.Err != nil {
			t.Fatal(d.Err)
		}
	}
	ended, err := s.Store.Execution(t.Context(), nightly, job.ScheduledKey(halfPastOne))
	if err != nil || ended.Status != job.Dead || ended.Dropped == 0 {
		t.Fatalf("the execution is %+v, %v; want it DEAD with an overflown timeline", ended, err)
	}
	if err := s.Store.WriteHistory(t.Context(), ended, 2, ended.Timeline[0]); err != nil {
		t.Fatal(err)
	}
	before := s.stream(t) // records go after a day
	time.Sleep(time.Until(halfPastOne.Add(32 * 24 * time.Hour)))
	if _, err := s.backend.SweepExpired(); err != nil {
		t.Fatal(err)
	}
	after := s.stream(t)
	return append(before, after[len(after)-1])
}

// stream reads what the stream holds, through the platform.
func (s *station) stream(t *testing.T) []lambda.DynamoDBEventRecord {
	t.Helper()
	client := dynamodbstreams.NewFromConfig(s.backend.Config())
	out, err := client.ListStreams(t.Context(), nil)
	if err != nil || len(out.Streams) != 1 {
		t.Fatalf("streams are %v, %v", out, err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	var records []lambda.DynamoDBEventRecord
	poller := platform.StreamPoller{Client: client, Stream: *out.Streams[0].StreamArn,
		Function: func(_ context.Context, e lambda.DynamoDBEvent) (lambda.DynamoDBEventResponse, error) {
			records = append(records, e.Records...)
			return lambda.DynamoDBEventResponse{}, nil
		}}
	if err := errors.Join(poller.Run(ctx)); err != nil {
		t.Fatal(err)
	}
	return records
}

// telling picks the records that the function has to tell apart, and gives
// them ids that are the same each time.
func telling(records []lambda.DynamoDBEventRecord) lambda.DynamoDBEvent {
	var e lambda.DynamoDBEvent
	dropped := func(r lambda.DynamoDBEventRecord) string {
		if v, found := r.Change.NewImage["timeline_dropped"]; found {
			return v.Number()
		}
		return ""
	}
	seen := ""
	for n, r := range records {
		overflows := dropped(r) != "" && seen == ""
		if overflows {
			seen = dropped(r)
		}
		ends := r.EventName == "MODIFY" && r.Change.NewImage["status"].String() == string(job.Dead)
		if r.EventName != "MODIFY" || overflows || ends {
			r.EventID = fmt.Sprintf("c4ca4238a0b92382%016d", n+1)
			r.EventSourceArn = "arn:aws:dynamodb:eu-central-1:123456789012:table/belfry-executions/stream/2026-07-01T00:00:00.000"
			r.AWSRegion = "eu-central-1"
			e.Records = append(e.Records, r)
		}
	}
	return e
}

func TestTheStreamEventIsWhatTheTableStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(halfPastOne.Add(-5 * time.Minute)))
		golden(t, "stream-event/sample.json", indented(t, telling(life(t))))
	})
}

func TestTheStreamEventLeavesAPageHistoryAndADeadLetter(t *testing.T) {
	var e lambda.DynamoDBEvent
	if err := json.Unmarshal(sample(t, "stream-event/sample.json"), &e); err != nil {
		t.Fatal(err)
	}
	changes, err := record.Read(e)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, n := range record.Gather(changes) {
		switch {
		case n.Recent != nil:
			kinds = append(kinds, fmt.Sprintf("page of %d", len(n.Recent.Entries)))
		case n.History != nil:
			kinds = append(kinds, fmt.Sprintf("history %d %s", n.History.Place, n.History.Entry.To))
		case n.Attention != nil:
			kinds = append(kinds, string(n.Attention.Execution.Status))
		}
	}
	kinds = slices.Compact(kinds)
	if len(kinds) < 3 || kinds[0] != "page of 1" || kinds[1] != "history 2 RETRY_WAIT" || !slices.Contains(kinds, string(job.Dead)) {
		t.Errorf("the event leaves %s", strings.Join(kinds, ", "))
	}
	s := newStation(t, assemble.Environment{})
	if response, err := functions.Record(s.Installation)(t.Context(), e); err != nil || len(response.BatchItemFailures) != 0 {
		t.Errorf("answered %v, %v", response, err)
	}
	entries, _, err := s.Store.Attention(t.Context(), job.AttentionQuery{Tenant: nightly.Tenant, Letters: true, Limit: 10})
	if err != nil || len(entries) != 1 || entries[0].Status != job.Dead || entries[0].ErrorCode != "HTTP_503" {
		t.Errorf("dead letters are %+v, %v; want the nightly one", entries, err)
	}
}
