package sim_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

func setLayouts(t *testing.T, w *sim.World, layouts string) {
	t.Helper()
	_, err := dynamodb.NewFromConfig(w.Backend.Config()).PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(w.Control.Store.Tables().Control),
		Item: map[string]ddbtypes.AttributeValue{"pk": textValue("LAYOUT"), "sk": textValue("-"), "layouts": textValue(layouts)}})
	if err != nil {
		t.Fatal(err)
	}
}

// The number of shards is changed from 4 to 16 under load, and the old layout is
// taken away once it is empty: no time is lost, no process has to be started anew.
func TestTheNumberOfShardsCanBeChangedWhileEverythingRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		w := world(t, sim.Options{Shards: 4, Work: flaky})
		w.StartCrowd(t.Context(), 2, 1)
		var refs []job.Ref
		for i := range 8 {
			refs = append(refs, put(t, w, job.Definition{Job: fmt.Sprint("job-", i), Schedule: job.Schedule{Every: job.Duration(time.Duration(30+3*i) * time.Second)},
				Retry: job.Retry{MaxAttempts: 20}}))
		}
		hourly := put(t, w, job.Definition{Job: "hourly", Schedule: job.Schedule{Cron: "0 * * * *"}})
		time.Sleep(10*time.Minute + 7*time.Second)
		setLayouts(t, w, `[{"generation":1,"shards":4},{"generation":2,"shards":16}]`)
		time.Sleep(10 * time.Minute)
		heads, err := w.Heads(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range heads {
			if h.Ref != hourly && !strings.HasPrefix(h.DueShard, "2.") {
				t.Errorf("%s still lies in shard %s", h.Ref, h.DueShard)
			}
		}
		time.Sleep(50 * time.Minute) // the hourly job has moved as well
		setLayouts(t, w, `[{"generation":2,"shards":16}]`)
		time.Sleep(20 * time.Minute)
		upto := time.Now()
		time.Sleep(5 * time.Minute)
		w.Stop()
		for _, ref := range append(refs, hourly) {
			if err := w.Check(t.Context(), ref, begun, upto); err != nil {
				t.Errorf("%s: %.500v", ref, err)
			}
		}
		if lag, of := startLag(w, begun, upto); lag > time.Second {
			t.Errorf("%s began %s late", of, lag)
		}
	})
}
