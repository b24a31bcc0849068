package control_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestATypeThatIsNotListedIsRefusedWithTheList(t *testing.T) {
	atDesk(t, func(d *desk) {
		definition := daily()
		definition.Type = "reports"
		_, err := d.Put(d.Context(), d.request(definition))
		var refusal *job.Error
		if !errors.As(err, &refusal) || refusal.Code != job.CodeInvalid || refusal.Field != "type" || refusal.Bound != "billing, report" {
			d.Errorf("refused with %v, want the list of types", err)
		}
		d.Types = nil
		if _, err := d.Put(d.Context(), d.request(definition)); !errors.As(err, &refusal) || !strings.Contains(refusal.Fix, "settings") {
			d.Errorf("refused with %v, want a word about the settings", err)
		}
	})
}

// Figures are split by both, and the stream's consumer reads nothing but the
// execution.
func TestExecutionsCarryTheirJobsTypeAndTheKindOfItsTarget(t *testing.T) {
	atDesk(t, func(d *desk) {
		definition := once()
		definition.Type = "report"
		d.put(definition)
		if _, err := d.RunNow(d.Context(), control.RunRequest{Ref: d.ref, Actor: "ada"}); err != nil {
			d.Fatal(err)
		}
		if all := d.stored(); len(all) != 2 {
			d.Fatalf("%d executions, want the scheduled one and the manual run", len(all))
		}
		for _, e := range d.stored() {
			if e.Type != "report" || e.Target != "log" {
				d.Errorf("%s is of type %q and target %q", e.ID(), e.Type, e.Target)
			}
		}
		definition.Type = ""
		d.put(definition)
		d.must(d.belfry.Trigger.Materialise(d.Context(), d.ref))
		for _, e := range d.stored() {
			if e.Kind == job.KindScheduled && e.Type != "" {
				d.Errorf("%s was made again by an edit and is still of type %q", e.ID(), e.Type)
			}
		}
	})
}

func TestWhatEndedIsKeptForTheRetentionOfTheInstallation(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.put(once())
		e := d.stored()[0]
		_, err := d.Cancel(d.Context(), d.ref, e.Key, "ada")
		d.must(err)
		out, err := d.db.GetItem(d.Context(), &dynamodb.GetItemInput{TableName: aws.String(d.belfry.Store.Tables().Executions),
			Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: d.ref.String()}, "sk": &types.AttributeValueMemberS{Value: e.Key.String()}}})
		d.must(err)
		want := strconv.FormatInt(time.Now().Add(72*time.Hour).Unix(), 10)
		if got, _ := out.Item["expires_at"].(*types.AttributeValueMemberN); got == nil || got.Value != want {
			d.Errorf("the execution expires at %v, want %s", out.Item["expires_at"], want)
		}
	})
}
