//go:build stack

package localstack

import (
	"context"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// While nothing is deployed there is no API to ask: what stayed behind is read
// from the tables and queues themselves.
func TestDestroyKeepsWhatWasStored(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	w := newTown(t)
	// Deleted through the API of then: the deployment's of now will be gone.
	put := func(d job.Definition) string {
		d.Job += w.suffix
		if _, err := w.api.PutJob(ctx, d, client.PutOptions{IfAbsent: true}); err != nil {
			t.Fatal(err)
		}
		return d.Job
	}
	log := job.Target{Log: &job.LogTarget{Message: "here"}}
	ran := put(job.Definition{Job: "ran", Schedule: job.Schedule{Every: job.Duration(time.Hour)}, Paused: true, Target: log})
	runs := put(job.Definition{Job: "runs", Schedule: job.Schedule{Every: job.Duration(interval)}, Target: log})
	waits := put(job.Definition{Job: "waits", Schedule: job.Schedule{Every: job.Duration(time.Hour)}, Paused: true, Target: log, Pool: "long-running"})
	done, waiting := w.run(ctx, ran), w.run(ctx, waits)
	done = w.ended(ctx, done.ID)
	before := w.about(ctx, ran)
	beneath := under(t)
	waitsInQueue := func() bool { return beneath.messages(ctx, t, "belfry-long-running") > 0 }
	w.until(ctx, "a message waits for a worker that is not there", waitsInQueue)

	w.step(ctx, "destroy")
	if _, err := w.api.Health(ctx); err == nil {
		t.Error("the API still answers")
	}
	beneath.hold(ctx, t, ran)
	if !waitsInQueue() {
		t.Error("the message that waited is gone")
	}

	w.step(ctx, "deploy")
	w.api = deployedAPI(t)
	// The emulator takes the tables over and makes the queues anew, so that what was
	// in them is gone: the worst that a deployment can find.
	t.Logf("%d of the messages that waited for %s are left", beneath.messages(ctx, t, "belfry-fast-io"), runs)
	until := time.Now()
	w.reconciled(ctx)
	if after := w.about(ctx, ran); !reflect.DeepEqual(after, before) {
		t.Errorf("the job is found as %+v, it was %+v", after, before)
	}
	if after := w.ended(ctx, done.ID); !reflect.DeepEqual(after, done) {
		t.Errorf("the execution is found as %+v, it was %+v", after, done)
	}
	w.worker()
	if e := w.ended(ctx, waiting.ID); e.Status != job.Succeeded || e.Attempt != 1 {
		t.Errorf("what waited for a worker is %s after %d attempts", e.Status, e.Attempt)
	}
	w.until(ctx, "every time that passed meanwhile has run", func() bool {
		passed := slices.DeleteFunc(w.executions(ctx, client.ExecutionQuery{Job: runs}), func(e client.Execution) bool { return e.ScheduledAt.After(until) })
		return len(passed) > 0 && !slices.ContainsFunc(passed, func(e client.Execution) bool { return e.Status != job.Succeeded })
	})
	for _, name := range []string{ran, runs, waits} {
		if err := w.api.DeleteJob(ctx, name, 0); err != nil {
			t.Errorf("delete %s: %v", name, err)
		}
	}
}

func (w town) run(ctx context.Context, name string) client.Execution {
	w.Helper()
	e, err := w.api.RunJob(ctx, name, "")
	if err != nil {
		w.Fatal(err)
	}
	return e
}

// reconciled sends again what is overdue, as `belfry reconcile` does.
func (w town) reconciled(ctx context.Context) {
	w.Helper()
	sent := 0
	for cursor := ""; ; {
		r, err := w.api.Reconcile(ctx, cursor)
		if err != nil {
			w.Fatal(err)
		}
		sent += r.Sent
		if cursor = string(r.NextCursor); cursor == "" {
			w.Logf("%d messages were sent again", sent)
			return
		}
	}
}

// ended waits until the execution has ended well.
func (w town) ended(ctx context.Context, id string) (e client.Execution) {
	w.Helper()
	w.until(ctx, id+" succeeds", func() bool {
		var err error
		if e, err = w.api.Execution(ctx, id); err != nil {
			w.Fatal(err)
		}
		return e.Status == job.Succeeded
	})
	return e
}

// about is what the API tells about a job, apart from what depends on the moment.
func (w town) about(ctx context.Context, name string) client.Job {
	w.Helper()
	about, err := w.api.Job(ctx, name)
	if err != nil {
		w.Fatal(err)
	}
	about.NextFireAt = client.Time{}
	return about
}

// ground is what lies under the installation: its tables and queues.
type ground struct {
	tablesOf *dynamodb.Client
	queuesOf *sqs.Client
}

func under(t *testing.T) ground {
	t.Helper()
	config := aws.Config{Region: told(t, "AWS_REGION"), BaseEndpoint: aws.String(told(t, "BELFRY_STACK_ENDPOINT")),
		Credentials: credentials.NewStaticCredentialsProvider(told(t, "AWS_ACCESS_KEY_ID"), told(t, "AWS_SECRET_ACCESS_KEY"), "")}
	return ground{tablesOf: dynamodb.NewFromConfig(config), queuesOf: sqs.NewFromConfig(config)}
}

// hold expects the tables, and in them a job that has run.
func (g ground) hold(ctx context.Context, t *testing.T, name string) {
	t.Helper()
	if got, want := g.tables(ctx, t), []string{"belfry-control", "belfry-executions", "belfry-jobs"}; !slices.Equal(got, want) {
		t.Fatalf("the tables %v are left, want %v", got, want)
	}
	for table, least := range map[string]int{"belfry-jobs": 2, "belfry-executions": 1} { // the head and a revision; the execution
		if rows := g.rows(ctx, t, table, name); rows < least {
			t.Errorf("%d rows of %s are left in %s, want %d", rows, name, table, least)
		}
	}
}

func (g ground) tables(ctx context.Context, t *testing.T) []string {
	t.Helper()
	out, err := g.tablesOf.ListTables(ctx, &dynamodb.ListTablesInput{})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out.TableNames)
	return out.TableNames
}

// rows counts the items of a job, whose partition its name ends.
func (g ground) rows(ctx context.Context, t *testing.T, table, name string) (n int) {
	t.Helper()
	pages := dynamodb.NewScanPaginator(g.tablesOf, &dynamodb.ScanInput{TableName: &table})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			if key, is := item["pk"].(*ddbtypes.AttributeValueMemberS); is && strings.HasSuffix(key.Value, "/"+name) {
				n++
			}
		}
	}
	return n
}

// messages are those in a queue, whether they can be received now or later.
func (g ground) messages(ctx context.Context, t *testing.T, name string) int {
	t.Helper()
	url, err := g.queuesOf.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &name})
	if err != nil {
		t.Fatal(err)
	}
	out, err := g.queuesOf.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: url.QueueUrl, AttributeNames: []sqstypes.QueueAttributeName{"All"}})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, kind := range []string{"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesDelayed", "ApproximateNumberOfMessagesNotVisible"} {
		count, _ := strconv.Atoi(out.Attributes[kind])
		n += count
	}
	return n
}
