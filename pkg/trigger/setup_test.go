package trigger_test

import (
	"context"
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
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/trigger"
)

// tower is the trigger plane on the real store, in a bubble.
type tower struct {
	*testing.T
	*trigger.Service
	belfry *assemble.Belfry
	db     *dynamodb.Client

	mu       sync.Mutex
	consumed map[string]int // calls by operation of the store
}

func inTower(t *testing.T, play func(w *tower)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		backend, err := localaws.New(localaws.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w := &tower{T: t, db: dynamodb.NewFromConfig(backend.Config()), consumed: map[string]int{}}
		clients := assemble.Clients{DynamoDB: dynamodb.NewFromConfig(backend.Config()), SQS: sqs.NewFromConfig(backend.Config())}
		w.belfry = assemble.New(clients, assemble.Settings{Shards: 1, Meter: func(operation string, _ []types.ConsumedCapacity) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.consumed[operation]++
		}})
		w.Service = w.belfry.Trigger
		w.must(w.belfry.Ensure(t.Context(), clients))
		play(w)
		time.Sleep(time.Second)
	})
}

func (w *tower) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// calls forgets and returns how often an operation of the store was made.
func (w *tower) calls(operation string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.consumed[operation]
	delete(w.consumed, operation)
	return n
}

// store makes a job directly, with a cursor and a misfire policy that no verb gives.
func (w *tower) store(name string, s job.Schedule, cursor time.Time, m job.Misfire) job.Ref {
	w.Helper()
	ref := job.Ref{Tenant: job.DefaultTenant, Job: name}
	d := job.Definition{Job: name, Schedule: s, Target: job.Target{Log: &job.LogTarget{}}}.WithDefaults()
	head := job.Head{Ref: ref, State: job.Enabled, Revision: 1, Epoch: 1, RunsFrom: 1, Schedule: s, Misfire: m, Pool: d.Pool, Anchor: cursor, NextFireAt: cursor, CreatedAt: time.Now()}
	w.must(w.belfry.Store.ChangeHead(w.Context(), job.HeadChange{New: head, Verb: "create", Actor: "ada", At: time.Now(),
		Revision: &job.Revision{Ref: ref, Number: 1, Epoch: 1, Definition: d, Anchor: cursor}}))
	return ref
}

func (w *tower) scan() {
	w.Helper()
	w.must(w.Scan(w.Context(), job.ShardRange{Generation: 1, From: 0, To: 1}, time.Now()))
}

func (w *tower) head(ref job.Ref) *job.Head {
	w.Helper()
	head, err := w.belfry.Store.Head(w.Context(), ref)
	w.must(err)
	return head
}

// made lists the executions of a job and its ranges, oldest first.
func (w *tower) made(ref job.Ref) (times []string, ranges []string) {
	w.Helper()
	stored, _, err := w.belfry.Store.ListExecutions(w.Context(), job.ExecutionQuery{Ref: ref, Limit: 999})
	w.must(err)
	for i := len(stored) - 1; i >= 0; i-- {
		e := stored[i]
		if e.Range != nil {
			ranges = append(ranges, fmt.Sprintf("%s-%s %d", e.Range.From.Format("15:04:05"), e.Range.To.Format("15:04:05"), e.Range.Count))
			continue
		}
		times = append(times, e.ScheduledAt.Format("15:04:05"))
	}
	return times, ranges
}

// queued is how many messages the work queue holds.
func (w *tower) queued() (n int) {
	w.Helper()
	q := w.belfry.Queues.Queue("belfry-fast-io")
	for {
		received, err := q.Receive(w.Context(), 10, 0, time.Hour)
		w.must(err)
		if len(received) == 0 {
			return n
		}
		n += len(received)
	}
}

// spoil writes into a job's head what no build of today would.
func (w *tower) spoil(ref job.Ref, attribute, value string) {
	w.Helper()
	_, err := w.db.UpdateItem(w.Context(), &dynamodb.UpdateItemInput{TableName: aws.String(w.belfry.Store.Tables().Jobs),
		Key:              map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: ref.String()}, "sk": &types.AttributeValueMemberS{Value: "HEAD"}},
		UpdateExpression: aws.String("SET #a = :v"), ExpressionAttributeNames: map[string]string{"#a": attribute},
		ExpressionAttributeValues: map[string]types.AttributeValue{":v": &types.AttributeValueMemberS{Value: value}}})
	w.must(err)
}

// failing is a store's executions of which one job's puts fail.
type failing struct {
	trigger.Executions
	job string
}

func (f failing) Put(ctx context.Context, e *job.Execution) (*job.Execution, error) {
	if e.Job == f.job {
		return nil, &job.Error{Code: job.CodeThrottled, Message: "on purpose"}
	}
	return f.Executions.Put(ctx, e)
}

// choosy is an admission that does not take one job's executions.
type choosy struct {
	trigger.Admission
	job string
}

func (c choosy) Admit(ctx context.Context, executions []*job.Execution) []error {
	errs := c.Admission.Admit(ctx, executions)
	for i, e := range executions {
		if e.Job == c.job {
			errs[i] = &job.Error{Code: job.CodeUnavailable, Message: "on purpose"}
		}
	}
	return errs
}
