package sim_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/queue"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

// judgeCounts: a range record counts the times in it that never began, so that
// no time is told twice: once as missed and once as run.
func judgeCounts(t *testing.T, w *sim.World, ref job.Ref) {
	t.Helper()
	head, err := w.Control.Store.Head(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := schedule.Compile(head.Schedule, head.Anchor)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := w.Stored(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range stored {
		if record.Range == nil {
			continue
		}
		missed := len(plan.Between(record.Range.From.Add(-time.Second), record.Range.To, 0))
		for _, e := range stored {
			if e.Kind == job.KindScheduled && e.Attempt > 0 && !e.ScheduledAt.Before(record.Range.From) && !e.ScheduledAt.After(record.Range.To) {
				missed--
			}
		}
		if missed != record.Range.Count {
			t.Errorf("%s: the record of %s to %s says that %d times were missed (%s), but %d never began", ref, record.Range.From.Format(time.TimeOnly),
				record.Range.To.Format(time.TimeOnly), record.Range.Count, record.Reason, missed)
		}
	}
}

// judgeRest: once nothing is due any more, queues are empty, no wake-up, lease
// or place in the due index is held by anything that does not need it, and
// nothing is left that could still begin.
func judgeRest(t *testing.T, w *sim.World) {
	t.Helper()
	for _, pool := range w.Options.Pools {
		names := queue.Names{}
		for _, name := range []string{names.Work(pool.Name), names.Isolation(pool.Name), names.DeadLetter(pool.Name)} {
			if n := queued(t, w, name); n != 0 {
				t.Errorf("queue %s still holds %d messages", name, n)
			}
		}
	}
	tables := w.Control.Store.Tables()
	for _, stored := range scanned(t, w, tables.Executions) {
		status := job.Status(textOf(stored, "status"))
		_, woken := stored["wake_at"]
		_, leased := stored["lease_until"]
		name := textOf(stored, "pk") + " " + textOf(stored, "sk")
		switch {
		case woken && (lifecycle.Terminal(status) || status == job.Withdrawn):
			t.Errorf("%s is %s and still in the wake index", name, status)
		case leased && status != job.Running:
			t.Errorf("%s is %s and still leased", name, status)
		case status == job.Running || status == job.RetryWait:
			t.Errorf("%s is still %s", name, status)
		}
	}
	for _, stored := range scanned(t, w, tables.Jobs) {
		_, due := stored["due_shard"]
		if state := job.State(textOf(stored, "state")); due && state != job.Enabled {
			t.Errorf("%s is %s and still in the due index", textOf(stored, "pk"), state)
		}
	}
}

func textOf(stored map[string]ddbtypes.AttributeValue, name string) string {
	if v, ok := stored[name].(*ddbtypes.AttributeValueMemberS); ok {
		return v.Value
	}
	return ""
}

func scanned(t *testing.T, w *sim.World, table string) []map[string]ddbtypes.AttributeValue {
	t.Helper()
	var all []map[string]ddbtypes.AttributeValue
	pages := dynamodb.NewScanPaginator(dynamodb.NewFromConfig(w.Backend.Config()), &dynamodb.ScanInput{TableName: aws.String(table)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Items...)
	}
	return all
}

// queued is how many messages a queue holds, visible or not.
func queued(t *testing.T, w *sim.World, name string) (total int) {
	t.Helper()
	client := sqs.NewFromConfig(w.Backend.Config())
	found, err := client.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String(name)})
	if err != nil {
		t.Fatal(err)
	}
	out, err := client.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: found.QueueUrl, AttributeNames: []sqstypes.QueueAttributeName{"All"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, attribute := range []string{"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed"} {
		n, err := strconv.Atoi(out.Attributes[attribute])
		if err != nil {
			t.Fatal(err)
		}
		total += n
	}
	return total
}

// startLag is the longest time between a scheduled second and the first attempt
// of its execution, over times in (from, upto].
func startLag(w *sim.World, from, upto time.Time) (worst time.Duration, of string) {
	for _, run := range w.Runs() {
		if run.Attempt != 1 || run.Key.Kind != job.KindScheduled || !run.Key.ScheduledAt.After(from) || run.Key.ScheduledAt.After(upto) {
			continue
		}
		if lag := run.At.Sub(run.Key.ScheduledAt); lag > worst {
			worst, of = lag, run.ID
		}
	}
	return worst, of
}

// pauseAll ends what would go on for ever, so that the world can come to rest.
func pauseAll(t *testing.T, w *sim.World, refs []job.Ref) {
	t.Helper()
	for _, ref := range refs {
		if _, err := w.Control.Control.Pause(t.Context(), ref, "test"); err != nil {
			t.Fatal(fmt.Errorf("pause %s: %w", ref, err))
		}
	}
}
