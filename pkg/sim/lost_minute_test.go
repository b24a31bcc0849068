package sim_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

// soonHourly is a job whose first time is made at once and whose second is not.
func soonHourly() (job.Definition, time.Time) {
	return job.Definition{Schedule: job.Schedule{Cron: "2 * * * *", Zone: "UTC"}}, time.Date(2000, 1, 1, 0, 2, 0, 0, time.UTC)
}

// lostMinute is what one verb of the lost minute left behind, and what becomes of it.
type lostMinute struct {
	says   string
	of     func() (job.Definition, time.Time) // the job; nil = soonHourly
	before func(s *stage)                     // until T − 60 s
	lost   func(s *stage, at time.Time)       // in the lost minute; at is a time of the job that is made already
	want   func(s *stage, at time.Time)       // after the repair and a scan
	did    func(job.RestoreProgress) bool     // counts that the repair must tell
}

func lostMinutes() []lostMinute {
	pause := func(s *stage) { _, err := s.planes().Control.Pause(s.Context(), s.ref, "test"); s.must(err) }
	hourly, _ := soonHourly()
	return append(lostVerbs(pause, hourly), []lostMinute{
		{says: "an older pause stands, and so does what it withdrew",
			before: pause,
			lost:   func(*stage, time.Time) {},
			want:   func(s *stage, at time.Time) { s.status(at, job.Withdrawn); s.head(job.Paused) },
			did:    func(p job.RestoreProgress) bool { return p.Rearmed == 0 && p.Withdrawn == 0 }},
		{says: "a lost pause had withdrawn a one-off that was made ahead: it is made again",
			of:   soon,
			lost: func(s *stage, _ time.Time) { pause(s) },
			want: func(s *stage, at time.Time) { s.status(at, job.Scheduled); s.head(job.Completed) },
			did:  func(p job.RestoreProgress) bool { return p.Rearmed == 1 && p.SetBack == 0 }},
		{says: "an older edit let a time of the revision before run on: it still does",
			before: func(s *stage) {
				time.Sleep(3 * time.Minute)
				d := hourly
				d.Description = "edited"
				s.apply(d)
			},
			lost: func(*stage, time.Time) {},
			want: func(s *stage, at time.Time) {
				if s.status(at, job.Scheduled); s.execution(at).Revision != 1 {
					s.Errorf("it would run revision %d", s.execution(at).Revision)
				}
			},
			did: func(p job.RestoreProgress) bool { return p.Rearmed == 1 && p.Withdrawn == 0 }},
		{says: "nothing happened at all: the time is kept",
			lost: func(*stage, time.Time) {},
			want: func(s *stage, at time.Time) { s.status(at, job.Scheduled); s.head(job.Enabled) },
			did:  func(p job.RestoreProgress) bool { return p.Rearmed == 1 && p.Lifted == 1 && p.SetBack == 0 }},
	}...)
}

func lostVerbs(pause func(s *stage), hourly job.Definition) []lostMinute {
	return []lostMinute{
		{says: "a lost pause had withdrawn the next time: it is made again and runs",
			lost: func(s *stage, _ time.Time) { pause(s) },
			want: func(s *stage, at time.Time) { s.status(at, job.Scheduled); s.head(job.Enabled) },
			did:  func(p job.RestoreProgress) bool { return p.Rearmed == 1 && p.Withdrawn == 0 }},
		{says: "a lost resume had made a time: the restored job is paused and does not want it",
			before: pause,
			lost: func(s *stage, _ time.Time) {
				_, err := s.planes().Control.Resume(s.Context(), s.ref, "test", "")
				s.must(err)
			},
			want: func(s *stage, at time.Time) { s.status(at, job.Withdrawn); s.head(job.Paused) },
			did:  func(p job.RestoreProgress) bool { return p.Rearmed == 0 && p.Withdrawn == 1 }},
		{says: "a lost edit had made the same time under a revision that is gone: it runs under the restored one",
			lost: func(s *stage, _ time.Time) { d := hourly; d.Description = "edited"; s.apply(d) },
			want: func(s *stage, at time.Time) {
				s.status(at, job.Scheduled)
				if e := s.execution(at); e.Revision != 1 {
					s.Errorf("it would run revision %d", e.Revision)
				}
				if head := s.head(job.Enabled); head.Revision != 3 {
					s.Errorf("the head has revision %d: number 2 named the lost edit", head.Revision)
				}
			},
			did: func(p job.RestoreProgress) bool { return p.Rearmed == 1 }},
		{says: "a lost delete never happened",
			lost: func(s *stage, _ time.Time) {
				_, err := s.planes().Control.Delete(s.Context(), s.ref, "test", 0)
				s.must(err)
			},
			want: func(s *stage, at time.Time) { s.status(at, job.Scheduled); s.head(job.Enabled) },
			did:  func(p job.RestoreProgress) bool { return p.Rearmed == 1 }},
	}
}

func TestWhatTheLostMinuteLeavesBehindIsSettledByTheRestoredJob(t *testing.T) {
	for _, x := range lostMinutes() {
		t.Run(x.says, func(t *testing.T) { x.play(t) })
	}
}

func (x lostMinute) play(t *testing.T) {
	d, at := soonHourly()
	if x.of != nil {
		d, at = x.of()
	}
	onStage(t, d, func(s *stage) {
		s.status(at, job.Scheduled)
		if x.before != nil {
			x.before(s)
		}
		b := backup{}
		b.definitions(s.T, s.w)
		time.Sleep(time.Second)
		x.lost(s, at)
		b.executions = scanned(s.T, s.w, s.planes().Store.Tables().Executions)
		time.Sleep(time.Second)
		s.w = restoredWorld(s.T, b, sim.Options{Shards: 1})
		did := repair(s.T, s.w)
		if x.did != nil && !x.did(did) {
			s.Errorf("the repair did %+v", did)
		}
		if again := repair(s.T, s.w); !reflect.DeepEqual(again, did) {
			s.Errorf("the repair repeated did %+v, first %+v", again, did)
		}
		s.forget("RESTORE#1")
		if again := repair(s.T, s.w); again.Rearmed+again.Withdrawn+again.Lifted > 0 {
			s.Errorf("a second repair from the beginning did %+v", again)
		}
		x.want(s, at)
		s.scan(s.planes().Trigger)
		x.want(s, at)
	})
}

// forget deletes a record of the control table.
func (s *stage) forget(pk string) {
	s.Helper()
	_, err := dynamodb.NewFromConfig(s.w.Backend.Config()).DeleteItem(s.Context(), &dynamodb.DeleteItemInput{
		TableName: aws.String(s.planes().Store.Tables().Control), Key: map[string]ddbtypes.AttributeValue{"pk": textValue(pk), "sk": textValue("-")}})
	s.must(err)
}

// head reads the job's head, which must be in that state.
func (s *stage) head(want job.State) *job.Head {
	s.Helper()
	head, err := s.planes().Store.Head(s.Context(), s.ref)
	s.must(err)
	if head.State != want {
		s.Errorf("the job is %s, want %s", head.State, want)
	}
	return head
}
