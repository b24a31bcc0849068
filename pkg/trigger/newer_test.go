package trigger_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// While versions are mixed, an older scanner and an older API meet heads of a
// newer build: they leave them as they are, however strange they look.
func TestAHeadOfANewerSchemaIsLeftAlone(t *testing.T) {
	inTower(t, func(w *tower) {
		ref := w.store("job", minutely, time.Now().Add(time.Minute), job.Misfire{})
		w.spoil(ref, "schedule", `{"moon":"full","zone":"Luna/Tycho"}`)
		_, err := w.db.UpdateItem(w.Context(), &dynamodb.UpdateItemInput{TableName: aws.String(w.belfry.Store.Tables().Jobs),
			Key:              map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: ref.String()}, "sk": &types.AttributeValueMemberS{Value: "HEAD"}},
			UpdateExpression: aws.String("SET #s = :s"), ExpressionAttributeNames: map[string]string{"#s": "schema"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":s": &types.AttributeValueMemberN{Value: "2"}}})
		w.must(err)
		was := w.head(ref)
		w.scan()
		if _, err := w.belfry.Control.Pause(w.Context(), ref, "ada"); job.CodeOf(err) != job.CodeUnavailable {
			w.Errorf("a verb of an older build gave %v", err)
		}
		if now := w.head(ref); now.State != job.Enabled || now.Epoch != was.Epoch || now.DueShard == "" {
			w.Errorf("the head was %+v and is %+v", was, now)
		}
	})
}
