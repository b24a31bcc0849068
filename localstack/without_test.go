//go:build stack

package localstack

import (
	"context"
	"encoding/json"
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
// from the tables and queues themselves. The name of this file puts it last: what
// it deploys has another bucket for the archive.
func TestDestroyKeepsWhatWasStored(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	w := newTown(t)
	known := w.store(ctx)
	beneath, archive := under(t), deployedVault(t)
	waits := func() bool { return beneath.messages(ctx, t, "belfry-long-running") > 0 }
	w.until(ctx, "a message waits for a worker that is not there", waits)
	var archived []string
	w.until(ctx, "something is archived", func() bool {
		archived, _ = archive.names(ctx, "transition")
		return len(archived) > 0
	})

	w.step(ctx, "destroy")
	if _, err := w.api.Health(ctx); err == nil {
		t.Error("the API still answers")
	}
	beneath.hold(ctx, t, known.job.Job)
	if !waits() {
		t.Error("the message that waited is gone")
	}
	if left, _ := archive.names(ctx, "transition"); !slices.Contains(left, archived[0]) {
		t.Errorf("%s is gone from the archive's bucket", archived[0])
	}

	// The emulator refuses a bucket that is there, whether it may take it over or not.
	// It takes the tables over and makes the queues anew, so that what was in them is
	// gone: just what a restore from backups finds, and it is repaired as one is.
	w.step(ctx, "deploy", "SYNTHFLAGS=-c belfry:archive.bucket=belfry-archive"+w.suffix+" -c belfry:bucket.name=belfry-data"+w.suffix+" -c belfry:restore_epoch=1")
	w.api = deployedAPI(t)
	t.Logf("%d of the messages that waited in belfry-fast-io are left", beneath.messages(ctx, t, "belfry-fast-io"))
	w.repairs(ctx, known)
	w.finds(ctx, known)
}

// repairs does what docs/deploy.md tells a person to do after a restore: until
// then nothing may be changed.
func (w town) repairs(ctx context.Context, known stored) {
	w.Helper()
	if _, err := w.api.PauseJob(ctx, known.runs); job.CodeOf(err) != job.CodeRestorePending {
		w.Errorf("before the repair a pause gives %v", err)
	}
	run, _ := w.command(ctx)
	var did client.Restored
	out := run("reconcile", "--dr", "--json")
	if err := json.Unmarshal([]byte(out[strings.Index(out, "{"):]), &did); err != nil || did.Phase != "done" {
		w.Fatalf("%v: %s", err, out)
	}
	w.Logf("the repair: %+v", did)
	if did.Rearmed < 2 || did.Lifted < 3 { // what waits for a worker, what was made ahead; the three jobs
		w.Errorf("the repair did %+v", did)
	}
}

// stored is what was there before: a job and its execution that ended, one that
// waits for a worker, and a job that goes on and on.
type stored struct {
	job         client.Job
	ran, waited client.Execution
	runs        string
	first       time.Time // that it was due
}

// store makes them. They are deleted through the API that will be there then.
func (w town) store(ctx context.Context) stored {
	w.Helper()
	put := func(d job.Definition) string {
		d.Job, d.Target = d.Job+w.suffix, job.Target{Log: &job.LogTarget{Message: "here"}}
		if _, err := w.api.PutJob(ctx, d, client.PutOptions{IfAbsent: true}); err != nil {
			w.Fatal(err)
		}
		return d.Job
	}
	hourly := job.Schedule{Every: job.Duration(time.Hour)}
	ran := put(job.Definition{Job: "ran", Schedule: hourly, Paused: true})
	known := stored{runs: put(job.Definition{Job: "runs", Schedule: job.Schedule{Every: job.Duration(interval)}})}
	known.waited = w.run(ctx, put(job.Definition{Job: "waits", Schedule: hourly, Paused: true, Pool: "long-running"}))
	known.ran = w.ended(ctx, w.run(ctx, ran).ID)
	known.job = w.about(ctx, ran)
	known.first = w.executions(ctx, client.ExecutionQuery{Job: known.runs, Upcoming: true})[0].ScheduledAt.Time
	return known
}

// finds expects all of it as it was, and that nothing of it is lost.
func (w town) finds(ctx context.Context, known stored) {
	w.Helper()
	known.job.Epoch = job.RestoreBase(1) + 1
	if after := w.about(ctx, known.job.Job); !reflect.DeepEqual(after, known.job) {
		w.Errorf("the job is found as %+v, it was %+v", after, known.job)
	}
	if after := w.ended(ctx, known.ran.ID); !reflect.DeepEqual(after, known.ran) {
		w.Errorf("the execution is found as %+v, it was %+v", after, known.ran)
	}
	w.worker()
	if e := w.ended(ctx, known.waited.ID); e.Attempt != 1 || e.FencingToken == nil || *e.FencingToken <= job.RestoreBase(1) {
		w.Errorf("what waited for a worker took %d attempts and token %v", e.Attempt, e.FencingToken)
	}
	for i, e := range w.executions(ctx, client.ExecutionQuery{Job: known.runs, Upcoming: true}) {
		if due := known.first.Add(time.Duration(i) * interval); !e.ScheduledAt.Equal(due) {
			w.Errorf("%s is there in place of one at %s: a time was lost", e.ID, due)
		}
		if time.Until(e.ScheduledAt.Time) < 0 {
			w.ended(ctx, e.ID) // also what only a message knew that is gone
		}
	}
	fresh := w.put(ctx, job.Definition{Job: "fresh", Schedule: job.Schedule{Every: job.Duration(interval)}, Target: job.Target{Log: &job.LogTarget{Message: "here"}}})
	w.ranInTime(ctx, fresh, func(ran []client.Execution) bool { return len(ran) >= 2 })
	for _, name := range []string{known.job.Job, known.runs, known.waited.Job} {
		if err := w.api.DeleteJob(ctx, name, 0); err != nil {
			w.Errorf("delete %s: %v", name, err)
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

// ended waits until the execution has ended well.
func (w town) ended(ctx context.Context, id string) (e client.Execution) {
	w.Helper()
	w.until(ctx, id+" succeeds", func() bool {
		var err error
		if e, err = w.api.Execution(ctx, id); err != nil {
			w.Fatal(err)
		}
		if !e.FinishedAt.IsZero() && e.Status != job.Succeeded {
			w.Fatalf("%s is %s: %s %s", id, e.Status, e.ErrorCode, e.ErrorText)
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
