package sim_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// lostMaterialiser crashes the API between a verb's write and its executions.
type lostMaterialiser struct{}

func (lostMaterialiser) Materialise(context.Context, job.Ref) error { return errCrash }

// A verb whose process died before its acknowledgement is repeated as a whole:
// what is due soon must not wait for a scan.
func TestARepeatedVerbMaterialisesWhatTheFirstOneDidNot(t *testing.T) {
	d, at := later()
	onStage(t, d, func(s *stage) {
		time.Sleep(6 * time.Minute)
		dying := *s.planes().Control
		dying.Materialiser = lostMaterialiser{}
		d.Description = "edited"
		if _, err := dying.Put(s.Context(), putOf(s.ref, d)); err == nil {
			s.Fatal("an edit that could not materialise was acknowledged")
		}
		if e := s.execution(at); e != nil {
			s.Fatalf("who made %+v?", e)
		}
		result, err := s.planes().Control.Put(s.Context(), putOf(s.ref, d))
		s.must(err)
		if result.Action != control.Unchanged {
			s.Errorf("the repeated edit is %s", result.Action)
		}
		s.status(at, job.Scheduled)
	})
}

// The number of shards is what is stored, whatever a process was started with:
// a job written into a shard that no tick covers would never be due.
func TestEveryProcessWritesIntoTheStoredShardLayout(t *testing.T) {
	d, _ := later()
	onStage(t, d, func(s *stage) {
		_, err := s.planes().Store.Layouts(s.Context())
		s.must(err)
		other := s.w.Assembled(assemble.Settings{Owner: "api", Shards: 64})
		for _, name := range []string{"one", "two", "three"} {
			ref := job.Ref{Tenant: job.DefaultTenant, Job: name}
			_, err := other.Control.Put(s.Context(), putOf(ref, d))
			s.must(err)
			_, err = other.Control.RunNow(s.Context(), control.RunRequest{Ref: ref, Actor: "test"})
			s.must(err)
			head, err := other.Store.Head(s.Context(), ref)
			s.must(err)
			if head.DueShard != "1.0000" {
				s.Errorf("job %s lies in shard %s, and the installation has one shard", name, head.DueShard)
			}
			stored, err := s.w.Stored(s.Context(), ref)
			s.must(err)
			for _, e := range stored {
				if e.Wake.Shard != "t.1.0000" {
					s.Errorf("the manual run %s waits in wake shard %s, and the installation has one shard", e.ID(), e.Wake.Shard)
				}
			}
		}
	})
}

// restored is the installation after a restore from a backup.
func (s *stage) restored() *assemble.Belfry {
	return s.w.Assembled(assemble.Settings{Owner: "restored", Shards: 1, RestoreEpoch: 1})
}

// After a restore outside systems may have seen higher tokens than the backup
// holds: every attempt's token carries the restore epoch.
func TestAfterARestoreEveryTokenIsHigherThanAnyBefore(t *testing.T) {
	fails := func(context.Context, *execute.Attempt) *lifecycle.Failure {
		return &lifecycle.Failure{Class: lifecycle.Transient, Code: "AGAIN"}
	}
	for name, before := range map[string]func(s *stage, at time.Time){
		"of an execution that had not begun":        func(*stage, time.Time) {},
		"of an execution that waited for its retry": func(s *stage, _ time.Time) { s.process(s.worker("w", fails), s.receive(work)); time.Sleep(time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			d, at := soon()
			onStage(t, d, func(s *stage) {
				time.Sleep(2 * time.Minute)
				before(s, at)
				after := s.restored()
				s.must(after.Dispatch.Send(s.Context(), s.execution(at)))
				worker := after.Execute(func(context.Context, *execute.Attempt) *lifecycle.Failure { return nil })
				for e := s.execution(at); !lifecycle.Terminal(e.Status); e = s.execution(at) {
					b := s.receive(work)
					if d := worker.Process(s.Context(), execute.Delivery{Message: b.message}); d.Delete {
						s.drop(b)
					}
				}
				if e := s.execution(at); e.FencingToken <= 1<<32 || e.Timeline[len(e.Timeline)-1].Token != e.FencingToken {
					s.Errorf("it ran under token %d: %+v", e.FencingToken, e.Timeline)
				}
			})
		})
	}
}

// raw changes a stored item as a newer build might have written it.
func (s *stage) raw(table string, pk, sk, set string, values map[string]ddbtypes.AttributeValue) {
	s.Helper()
	client := dynamodb.NewFromConfig(s.w.Backend.Config())
	_, err := client.UpdateItem(s.Context(), &dynamodb.UpdateItemInput{TableName: aws.String(table), UpdateExpression: aws.String(set), ExpressionAttributeValues: values, ExpressionAttributeNames: names(set),
		Key: map[string]ddbtypes.AttributeValue{"pk": &ddbtypes.AttributeValueMemberS{Value: pk}, "sk": &ddbtypes.AttributeValueMemberS{Value: sk}}})
	s.must(err)
}

func names(set string) map[string]string {
	if strings.Contains(set, "#s ") {
		return map[string]string{"#s": "schema"}
	}
	return nil
}

func textValue(v string) ddbtypes.AttributeValue { return &ddbtypes.AttributeValueMemberS{Value: v} }

func numberValue(v string) ddbtypes.AttributeValue { return &ddbtypes.AttributeValueMemberN{Value: v} }

// A gap that a newer build wrote, with more in it than this build knows, is
// closed all the same: by the scan and by the next verb.
func TestAGapWithUnknownFieldsIsClosed(t *testing.T) {
	for name, closes := range map[string]func(s *stage){
		"by a scan":   func(s *stage) { s.scan(s.scanner(hooks{})) },
		"by a resume": func(s *stage) { _, err := s.planes().Control.Resume(s.Context(), s.ref, "test", ""); s.must(err) },
	} {
		t.Run(name, func(t *testing.T) {
			d, at := later()
			onStage(t, d, func(s *stage) {
				time.Sleep(10*time.Minute + 20*time.Second)
				_, err := s.planes().Control.Pause(s.Context(), s.ref, "test")
				s.must(err)
				s.raw("belfry-jobs", s.ref.String(), "HEAD", "SET gap = :gap, next_fire_at = :at, due_shard = :shard", map[string]ddbtypes.AttributeValue{
					":gap": textValue(`{"from":"2000-01-01T00:10:00Z","effective_at":"2000-01-01T00:10:20Z","revision":1,"reason":"JOB_PAUSED","new":7}`),
					":at":  numberValue("946685400"), ":shard": textValue("1.0000")})
				closes(s)
				head, err := s.planes().Store.Head(s.Context(), s.ref)
				s.must(err)
				if head.Gap != nil || head.State == job.Paused && head.DueShard != "" {
					s.Errorf("the gap stays: %+v", head)
				}
				e, err := s.planes().Store.Execution(s.Context(), s.ref, job.RangeKey(at))
				s.must(err)
				if e == nil {
					s.Error("the gap is not on record")
				}
			})
		})
	}
}

// An execution that a newer build wrote is not begun by this one, however its
// message came.
func TestAnExecutionOfANewerSchemaIsLeftToANewerWorker(t *testing.T) {
	d, at := soon()
	onStage(t, d, func(s *stage) {
		time.Sleep(2 * time.Minute)
		s.raw("belfry-executions", s.ref.String(), job.ScheduledKey(at).String(), "SET #s = :s, novel = :n",
			map[string]ddbtypes.AttributeValue{":s": numberValue("2"), ":n": textValue("kept")})
		b := s.receive(work)
		if d := s.process(s.worker("w", nil), b); d.Delete || d.Hide == 0 {
			s.Errorf("its message is not hidden: %+v", d)
		}
		if e := s.execution(at); e.Status != job.Scheduled || e.Attempt != 0 {
			s.Errorf("it was begun: %+v", e)
		}
	})
}

// A scanner that read the head before the times were late, and stands still
// before its advance, must not move the cursor into the middle of another
// scanner's misfire decision: the rest of it would be decided twice.
func TestASlowAdvanceDoesNotCutAMisfireDecisionInTwo(t *testing.T) {
	onStage(t, job.Definition{Schedule: job.Schedule{Cron: "* * * * *"}}, func(s *stage) {
		time.Sleep(3 * time.Minute)
		s.scan(s.scanner(hooks{beforeAdvance: func() error {
			time.Sleep(20 * time.Minute)
			s.scan(s.scanner(hooks{afterRange: func() error { return errCrash }}))
			return nil
		}}))
		s.scan(s.scanner(hooks{}))
		stored, err := s.w.Stored(s.Context(), s.ref)
		s.must(err)
		var ranges []job.Range
		for _, e := range stored {
			if e.Range != nil {
				ranges = append(ranges, *e.Range)
			}
		}
		if len(ranges) != 1 {
			s.Errorf("one outage is on record as %+v", ranges)
		}
	})
}

// The same slow scanner, before its puts: what another one has decided to miss
// it must not make after all. Only the put that it stood still in can slip through.
func TestASlowScannerMakesNoTimeThatHasBecomeLateMeanwhile(t *testing.T) {
	onStage(t, job.Definition{Schedule: job.Schedule{Cron: "* * * * *"}}, func(s *stage) {
		time.Sleep(3 * time.Minute)
		puts := 0
		s.scan(s.scanner(hooks{beforePut: func() error {
			if puts++; puts == 1 {
				time.Sleep(20 * time.Minute)
				s.scan(s.scanner(hooks{}))
			}
			return nil
		}}))
		if puts != 1 {
			s.Errorf("it made %d times after they had been told as missed", puts-1)
		}
	})
}
