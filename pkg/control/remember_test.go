package control_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/control"
)

// remembered counts the idempotency keys that the table still has.
func (d *desk) remembered() int32 {
	d.Helper()
	out, err := d.db.Scan(d.Context(), &dynamodb.ScanInput{TableName: aws.String(d.belfry.Store.Tables().Control), FilterExpression: aws.String("begins_with(pk, :idem)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":idem": &types.AttributeValueMemberS{Value: "IDEM#"}}})
	d.must(err)
	return out.Count
}

// DynamoDB removes what has expired up to days later.
func TestAnIdempotencyKeyIsForgottenAfterADayThoughTheTableStillHasIt(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.put(daily())
		run := func() string {
			e, err := d.RunNow(d.Context(), control.RunRequest{Ref: d.ref, Actor: "ada", IdempotencyKey: "deploy-17"})
			d.must(err)
			return e.ID()
		}
		first := run()
		time.Sleep(23 * time.Hour)
		if again := run(); again != first {
			t.Errorf("within the day the same key made %s beside %s", again, first)
		}
		time.Sleep(2 * time.Hour)
		if d.remembered() != 1 {
			t.Fatal("the entry is gone: there is nothing to be judged")
		}
		if later := run(); later == first {
			t.Error("an entry that has expired still answers")
		}
	})
}
