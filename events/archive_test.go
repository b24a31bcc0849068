package events_test

import (
	"bytes"
	"encoding/json"
	"testing"

	lambda "github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/archive"
	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

// archived is the only row that an event leaves of a kind, or its last, as
// samples are written.
func archived(t *testing.T, e lambda.DynamoDBEvent, kind archive.Kind) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, row := range archive.Rows(e) {
		if row.Kind == kind {
			out.Reset()
			if err := json.Indent(&out, row.Line, "", "  "); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out.Bytes()
}

func TestArchiveRowsAreWhatTheStreamEventLeaves(t *testing.T) {
	var e lambda.DynamoDBEvent
	if err := json.Unmarshal(sample(t, "stream-event/sample.json"), &e); err != nil {
		t.Fatal(err)
	}
	golden(t, "archive-row/sample.json", archived(t, e, archive.Transition))
	e.Records = e.Records[:1]
	e.Records[0].Change.NewImage["sk"] = lambda.NewStringAttribute("20260712T013000Z#q")
	golden(t, "archive-row/unread.json", archived(t, e, archive.Unread))
}

func TestAnArchiveRowOfAVerbIsItsAuditEntry(t *testing.T) {
	s := newStation(t, assemble.Environment{})
	s.put(t, job.Definition{Target: job.Target{Log: &job.LogTarget{}}})
	table := s.Store.Tables().Control
	out, err := dynamodb.NewFromConfig(s.backend.Config()).Query(t.Context(), &dynamodb.QueryInput{TableName: &table, KeyConditionExpression: new("pk = :pk"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": &types.AttributeValueMemberS{Value: store.AuditPrefix + nightly.String()}}})
	if err != nil || len(out.Items) != 1 {
		t.Fatalf("audit entries are %v, %v", out, err)
	}
	image := map[string]lambda.DynamoDBAttributeValue{}
	for name, value := range out.Items[0] {
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			image[name] = lambda.NewStringAttribute(v.Value)
		case *types.AttributeValueMemberN:
			image[name] = lambda.NewNumberAttribute(v.Value)
		default:
			t.Fatalf("%s is %T", name, value)
		}
	}
	golden(t, "archive-row/audit.json", archived(t, lambda.DynamoDBEvent{Records: []lambda.DynamoDBEventRecord{{EventID: "c4ca4238a0b923820000000000000001", EventName: "INSERT",
		Change: lambda.DynamoDBStreamRecord{SequenceNumber: "1", NewImage: image}}}}, archive.Audit))
}
