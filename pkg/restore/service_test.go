package restore_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
)

// ruin is a restored installation before its repair.
type ruin struct {
	*testing.T
	*assemble.Belfry
	db    *dynamodb.Client
	begun time.Time
}

func inRuin(t *testing.T, play func(r ruin)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		backend, err := localaws.New(localaws.Options{})
		if err != nil {
			t.Fatal(err)
		}
		clients := assemble.Clients{DynamoDB: dynamodb.NewFromConfig(backend.Config()), SQS: sqs.NewFromConfig(backend.Config())}
		r := ruin{T: t, Belfry: assemble.New(clients, assemble.Settings{Shards: 1, RestoreEpoch: 1}), db: clients.DynamoDB, begun: time.Now()}
		r.must(r.Ensure(t.Context(), clients))
		play(r)
		time.Sleep(time.Second)
	})
}

func (r ruin) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// head stores a job as the backup has it: hourly, last edited ten days before it
// was last due at last, and at its next hour since.
func (r ruin) head(name string, last time.Time, change func(h *job.Head)) job.Ref {
	r.Helper()
	h := job.Head{Ref: job.Ref{Tenant: job.DefaultTenant, Job: name}, State: job.Enabled, Revision: 1, Epoch: 3, RunsFrom: 3, Pool: "fast-io",
		Schedule: job.Schedule{Cron: "0 * * * *", Zone: "UTC"}, Misfire: job.Misfire{Policy: job.MisfireSkip}, UpdatedAt: last.Add(-10 * 24 * time.Hour),
		LastScheduled: last, NextFireAt: last.Add(time.Hour)}
	if change != nil {
		change(&h)
	}
	r.must(r.Store.ChangeHead(r.Context(), job.HeadChange{New: h, Verb: "create", At: h.UpdatedAt}))
	return h.Ref
}

// ended stores an execution that ended at its time.
func (r ruin) ended(ref job.Ref, at time.Time) {
	r.Helper()
	e := &job.Execution{Ref: ref, Key: job.ScheduledKey(at), Revision: 1, Epoch: 3, Status: job.Scheduled, CreatedAt: at, AvailableAt: at, Reason: lifecycle.Materialised, Schema: job.Schema}
	_, err := r.Store.Put(r.Context(), e)
	r.must(err)
	there, err := r.Store.Execution(r.Context(), ref, e.Key)
	r.must(err)
	r.must(r.Store.Close(r.Context(), there, lifecycle.CanceledBy(at, "test")))
}

func (r ruin) repair() job.RestoreProgress {
	r.Helper()
	for {
		p, err := r.Restore.Step(r.Context(), "test")
		r.must(err)
		if p.Phase == job.RestoreDone {
			return p
		}
	}
}

// A cursor is set back where the table shows that it ran ahead, and not where its
// executions may have expired.
func TestWhetherACursorIsSetBack(t *testing.T) {
	for says, row := range map[string]struct {
		ago    time.Duration // that the job was last due
		change func(h *job.Head)
		older  time.Duration // before last: the newest execution that is there; zero = none is
		cursor time.Duration // from last, afterwards
	}{
		"its last time is there":                       {ago: time.Hour, older: -1, cursor: time.Hour},
		"times are missing behind one that is there":   {ago: time.Hour, older: 3 * time.Hour, cursor: -2 * time.Hour},
		"days ago, too":                                {ago: 5 * 24 * time.Hour, older: 3 * time.Hour, cursor: -2 * time.Hour},
		"none is there, though it was due today":       {ago: time.Hour, change: func(h *job.Head) { h.UpdatedAt = h.LastScheduled.Add(-90 * time.Minute) }, cursor: -time.Hour},
		"none is there, and they may have expired":     {ago: 5 * 24 * time.Hour, cursor: time.Hour},
		"it is too long ago to tell":                   {ago: 28 * 24 * time.Hour, older: 3 * time.Hour, cursor: time.Hour},
		"a verb came after its last time":              {ago: time.Hour, change: func(h *job.Head) { h.UpdatedAt = h.LastScheduled.Add(time.Minute) }, cursor: time.Hour},
		"a switch-over holds up to its last time":      {ago: time.Hour, change: func(h *job.Head) { h.SwitchedAt = h.LastScheduled }, cursor: time.Hour},
		"a misfire decision is under way":              {ago: time.Hour, change: func(h *job.Head) { h.Plan = &job.LatePlan{From: h.NextFireAt, To: h.NextFireAt} }, older: 3 * time.Hour, cursor: time.Hour},
		"it is paused":                                 {ago: time.Hour, change: func(h *job.Head) { h.State, h.NextFireAt = job.Paused, time.Time{} }, older: 3 * time.Hour},
		"its last time of all is missing":              {ago: time.Hour, change: func(h *job.Head) { h.State, h.NextFireAt, h.Schedule.End = job.Completed, time.Time{}, h.LastScheduled }, older: 2 * time.Hour, cursor: -time.Hour},
		"it cannot be evaluated, which stops no other": {ago: time.Hour, change: func(h *job.Head) { h.Schedule.Zone = "Gone/Away" }, older: 3 * time.Hour, cursor: time.Hour},
	} {
		t.Run(says, func(t *testing.T) {
			inRuin(t, func(r ruin) {
				last := r.begun.Truncate(time.Hour).Add(-row.ago)
				ref := r.head("job", last, row.change)
				switch {
				case row.older < 0:
					r.ended(ref, last)
				case row.older > 0:
					r.ended(ref, last.Add(-row.older))
				}
				did := r.repair()
				head, err := r.Store.Head(r.Context(), ref)
				r.must(err)
				want := last.Add(row.cursor)
				if row.cursor == 0 {
					want = time.Time{}
				}
				if !head.NextFireAt.Equal(want) || (did.SetBack == 1) != (row.cursor < 0) || did.Lifted != 1 {
					r.Errorf("the cursor is %s, want %s; the repair did %+v", head.NextFireAt, want, did)
				}
				if row.cursor < 0 && head.State != job.Enabled {
					r.Errorf("it is %s", head.State)
				}
			})
		})
	}
}

// A job that a newer build wrote is not written by this one: the repair stops
// and says so, and goes on where it was once that build is there.
func TestARepairByAnOlderBuildStops(t *testing.T) {
	inRuin(t, func(r ruin) {
		ref := r.head("new", r.begun, nil)
		schema := func(n string) {
			_, err := r.db.UpdateItem(r.Context(), &dynamodb.UpdateItemInput{TableName: aws.String(r.Store.Tables().Jobs),
				Key:              map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: ref.String()}, "sk": &types.AttributeValueMemberS{Value: "HEAD"}},
				UpdateExpression: aws.String("SET #schema = :n"), ExpressionAttributeNames: map[string]string{"#schema": "schema"},
				ExpressionAttributeValues: map[string]types.AttributeValue{":n": &types.AttributeValueMemberN{Value: n}}})
			r.must(err)
		}
		schema("99")
		if _, err := r.Restore.Step(r.Context(), "test"); job.CodeOf(err) != job.CodeStateConflict {
			r.Fatalf("the repair gives %v", err)
		}
		if err := r.Store.Restored(r.Context()); job.CodeOf(err) != job.CodeRestorePending {
			r.Errorf("it may run: %v", err)
		}
		schema(fmt.Sprint(job.Schema))
		if did := r.repair(); did.Lifted != 1 {
			r.Errorf("then it did %+v", did)
		}
	})
}

// Several repairs at a time do the work of one.
func TestRepairsAtOneTimeDoNotDisturbOneAnother(t *testing.T) {
	inRuin(t, func(r ruin) {
		const jobs = 40
		for n := range jobs {
			ref := r.head(fmt.Sprint("job-", n), r.begun.Truncate(time.Hour), nil)
			_, err := r.Store.Put(r.Context(), &job.Execution{Ref: ref, Key: job.ScheduledKey(r.begun.Truncate(time.Hour)), Revision: 1, Epoch: 3, Status: job.Scheduled,
				CreatedAt: r.begun, AvailableAt: r.begun, Reason: lifecycle.Materialised, Schema: job.Schema})
			r.must(err)
		}
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() { r.repair() })
		}
		group.Wait()
		for n := range jobs {
			ref := job.Ref{Tenant: job.DefaultTenant, Job: fmt.Sprint("job-", n)}
			head, err := r.Store.Head(r.Context(), ref)
			r.must(err)
			e, err := r.Store.Execution(r.Context(), ref, job.ScheduledKey(r.begun.Truncate(time.Hour)))
			r.must(err)
			if head.Epoch != job.RestoreBase(1)+1 || e.Epoch != head.Epoch || e.Wake.At.IsZero() || e.Wake.Version != 1 {
				r.Errorf("%s has epoch %d, its execution %d and wake-up %+v", ref, head.Epoch, e.Epoch, e.Wake)
			}
		}
	})
}

// An installation that was never restored has nothing to repair.
func TestWithoutARestoreThereIsNothingToRepair(t *testing.T) {
	inRuin(t, func(r ruin) {
		r.Restore.RestoreEpoch = 0
		if _, err := r.Restore.Step(r.Context(), "test"); job.CodeOf(err) != job.CodeStateConflict {
			r.Errorf("the repair gives %v", err)
		}
	})
}
