package archive_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/archive"
	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/localaws/platform"
	"github.com/belfry-scheduler/belfry/pkg/record"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

// station is an installation in memory, its control table with a stream as the
// stack makes it.
type station struct {
	*testing.T
	*assemble.Belfry
	backend *localaws.Backend
	db      *dynamodb.Client
	streams *dynamodbstreams.Client
}

func newStation(t *testing.T) *station {
	t.Helper()
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	s := &station{T: t, backend: backend, db: dynamodb.NewFromConfig(backend.Config()), streams: dynamodbstreams.NewFromConfig(backend.Config())}
	clients := assemble.Clients{DynamoDB: s.db, SQS: sqs.NewFromConfig(backend.Config())}
	s.Belfry = assemble.New(clients, assemble.Settings{Shards: 1})
	name := func(word string) *string { return &word }
	if _, err := s.db.CreateTable(t.Context(), &dynamodb.CreateTableInput{TableName: name(s.Store.Tables().Control), BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{{AttributeName: name(store.PartitionKey), KeyType: types.KeyTypeHash}, {AttributeName: name(store.SortKey), KeyType: types.KeyTypeRange}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: name(store.PartitionKey), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: name(store.SortKey), AttributeType: types.ScalarAttributeTypeS}},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Ensure(t.Context(), clients); err != nil {
		t.Fatal(err)
	}
	return s
}

// read passes what the streams have of a table, from the oldest record on,
// through a function.
func (s *station) read(function func(context.Context, events.DynamoDBEvent) (events.DynamoDBEventResponse, error), table string, batch int) {
	s.Helper()
	out, err := s.streams.ListStreams(s.Context(), &dynamodbstreams.ListStreamsInput{TableName: &table})
	if err != nil || len(out.Streams) != 1 {
		s.Fatalf("streams of %s are %v, %v", table, out, err)
	}
	ctx, stop := context.WithCancel(s.Context())
	time.AfterFunc(time.Minute, stop)
	poller := platform.StreamPoller{Function: function, Client: s.streams, Stream: *out.Streams[0].StreamArn, BatchSize: batch, PartialFailures: true, MaxRetries: -1,
		OnError: func(err error) {
			if !strings.Contains(err.Error(), "reported") {
				s.Log(err)
			}
		}}
	if err := poller.Run(ctx); err != nil {
		s.Fatal(err)
	}
}

func (s *station) archive(v *vault, batch int) {
	s.Helper()
	a := &archive.Archiver{Objects: v}
	s.read(a.Handle, s.Store.Tables().Executions, batch)
	s.read(a.Handle, s.Store.Tables().Control, batch)
}

// troubled are jobs that end in every way that needs no scan, and one whose
// timeline does not fit into its execution.
func (s *station) troubled() []job.Ref {
	ctx, at := s.Context(), job.Schedule{At: time.Now().Add(time.Second)}
	short := job.Retry{MaxAttempts: 40, Base: job.Duration(time.Second), Max: job.Duration(time.Second)}
	var refs []job.Ref
	for _, d := range []job.Definition{{Job: "stubborn", Schedule: at, Retry: short}, {Job: "steady", Schedule: job.Schedule{Every: job.Duration(time.Minute)}},
		{Job: "refused", Schedule: at}, {Job: "unwanted", Schedule: at}, {Job: "paused", Schedule: job.Schedule{Every: job.Duration(time.Minute)}}} {
		d.Target = job.Target{Log: &job.LogTarget{}}
		ref := job.Ref{Tenant: job.DefaultTenant, Job: d.Job}
		if _, err := s.Control.Put(ctx, control.PutRequest{Ref: ref, Definition: d, Actor: "ada"}); err != nil {
			s.Fatal(err)
		}
		refs = append(refs, ref)
	}
	first := func(n int) job.Execution { return s.executions(refs[n])[0] }
	if _, err := s.Control.Cancel(ctx, refs[3], first(3).Key, "bob"); err != nil {
		s.Fatal(err)
	}
	if _, err := s.Control.Pause(ctx, refs[4], "bob"); err != nil {
		s.Fatal(err)
	}
	time.Sleep(2 * time.Second)
	for n := range 40 {
		s.attempt(first(0), n+1, &lifecycle.Failure{Code: "NOT_YET", Text: "come back later"})
		time.Sleep(2 * time.Second)
	}
	s.attempt(first(2), 1, &lifecycle.Failure{Code: "NO_SUCH_ACCOUNT", Class: lifecycle.PermanentClass})
	time.Sleep(5 * time.Minute)
	for _, e := range s.executions(refs[1]) {
		s.attempt(e, 1, nil)
	}
	return refs
}

func (s *station) executions(ref job.Ref) []job.Execution {
	s.Helper()
	list, _, err := s.Control.ListExecutions(s.Context(), control.ExecutionQuery{Ref: ref, Limit: 1000}, true)
	if err != nil {
		s.Fatal(err)
	}
	return list
}

// attempt carries one delivery of the execution's message through.
func (s *station) attempt(e job.Execution, receives int, failure *lifecycle.Failure) {
	s.Helper()
	d := execute.Delivery{Message: lifecycle.Message{Ref: e.Ref, Key: e.Key, Epoch: e.Epoch, Receives: receives}, NotBefore: e.AvailableAt}
	work := func(context.Context, *execute.Attempt) *lifecycle.Failure { return failure }
	if disposal := s.Execute(work).Process(s.Context(), d); disposal.Err != nil && !errors.Is(disposal.Err, context.Canceled) {
		s.Fatal(disposal.Err)
	}
}

// timelines are all transitions of the jobs as the API tells them, a line each.
func (s *station) timelines(refs []job.Ref) []string {
	s.Helper()
	var lines []string
	for _, ref := range refs {
		for _, e := range s.executions(ref) {
			view, err := s.Control.GetExecution(s.Context(), ref, e.Key)
			if err != nil {
				s.Fatal(err)
			}
			from := job.Status("")
			for place, entry := range view.Timeline {
				lines = append(lines, fmt.Sprintf("%s %03d %s>%s %s %d/%d %s %s %s", view.Execution.ID(), place, from, entry.To, entry.At.UTC().Format("2006-01-02T15:04:05.000Z"),
					entry.Attempt, entry.Token, entry.Reason, entry.Actor, entry.ErrorCode))
				from = entry.To
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// archived are the rows of a kind in the form of timelines.
func archived(t *testing.T, v *vault) (transitions, audits []string) {
	t.Helper()
	rows, _ := v.rows(t)
	word := func(row map[string]any, name string) string {
		if row[name] == nil {
			return ""
		}
		return fmt.Sprint(row[name])
	}
	for id, r := range rows {
		if strings.HasPrefix(id, "audit") {
			audits = append(audits, strings.Join([]string{word(r, "job"), word(r, "verb"), word(r, "actor"), word(r, "epoch")}, " "))
			continue
		}
		transitions = append(transitions, fmt.Sprintf("%s %03.0f %s>%s %s %s/%s %s %s %s", r["execution"], r["place"], word(r, "from_status"), word(r, "to_status"), word(r, "at"),
			word(r, "attempt"), word(r, "token"), word(r, "reason"), word(r, "actor"), word(r, "error_code")))
	}
	slices.Sort(transitions)
	slices.Sort(audits)
	return transitions, audits
}

func TestTheArchiveHasWhatTheAPITells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		refs := s.troubled()
		s.read((&record.Recorder{Lists: s.Store}).Handle, s.Store.Tables().Executions, 50)
		v := &vault{}
		s.archive(v, 7)
		got, audits := archived(t, v)
		want := s.timelines(refs)
		if !slices.Equal(got, want) {
			t.Errorf("archived\n  %s\nwhile the API tells\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
		}
		if len(want) < 100 || !strings.Contains(strings.Join(want, "\n"), ">DEAD") || !strings.Contains(strings.Join(want, "\n"), ">WITHDRAWN") {
			t.Errorf("the jobs made %d transitions, which is no test of anything", len(want))
		}
		if want := []string{"paused create ada 1", "paused pause bob 2", "refused create ada 1", "steady create ada 1", "stubborn create ada 1", "unwanted create ada 1"}; !slices.Equal(audits, want) {
			t.Errorf("archived audit entries are %q, want %q", audits, want)
		}
	})
}

func TestReadAgainAndRemovedInTheEndNothingIsToldTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		s.troubled()
		v := &vault{}
		refusals := 0
		v.refuse = func(string) bool { refusals++; return refusals%3 == 0 }
		s.archive(v, 10)
		v.refuse = nil
		rows, copies := v.rows(t)
		if refusals < 10 || slices.Max(slices.Collect(maps.Values(copies))) != 1 {
			t.Errorf("%d puts, a third of them refused, left a row more than once", refusals)
		}
		first := len(v.objects)
		s.archive(v, 10)
		if len(v.objects) != first {
			t.Errorf("the streams read again in the same batches made %d objects of %d", len(v.objects), first)
		}
		s.archive(v, 13)
		if again, _ := v.rows(t); !reflect.DeepEqual(again, rows) {
			t.Errorf("in other batches they give %d rows by their ids, want %d", len(again), len(rows))
		}
		time.Sleep(70 * 24 * time.Hour) // the tables forget what has ended
		if swept, err := s.backend.SweepExpired(); err != nil || swept == 0 {
			t.Fatalf("swept %d items, %v", swept, err)
		}
		removed := 0
		s.read(func(ctx context.Context, e events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
			removed += len(slices.DeleteFunc(slices.Clone(e.Records), func(r events.DynamoDBEventRecord) bool { return r.EventName != "REMOVE" }))
			return (&archive.Archiver{Objects: v}).Handle(ctx, e)
		}, s.Store.Tables().Executions, 10)
		if again, _ := v.rows(t); removed == 0 || !reflect.DeepEqual(again, rows) {
			t.Errorf("after %d removals there are %d rows, want the %d from before", removed, len(again), len(rows))
		}
	})
}
