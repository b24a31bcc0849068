package restore

import (
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// noon is the scheduled time of the execution in each row; the job runs hourly,
// its last verb was at eleven, its cursor stands at one, and it is ten past noon.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const base = int64(1) << 32

// situation is what a row changes.
type situation struct {
	e     *job.Execution
	h     *job.Head
	carry time.Time
	gone  bool // the job is not in the backup
	open  bool // the fan-out of a child is not done
}

// verdict is what a row expects; the last three only of what runs on.
type verdict struct {
	set      func(s *situation)
	act      act
	epoch    int64
	revision int
	wake     time.Time
}

var verdicts = map[string]verdict{
	"what has not begun under the restored life runs on": {set: func(*situation) {}, act: rearm, epoch: base + 1, revision: 3, wake: noon.Add(10 * time.Minute)},
	"what is not available yet is woken then":            {set: func(s *situation) { s.e.AvailableAt = noon.Add(time.Hour) }, act: rearm, epoch: base + 1, revision: 3, wake: noon.Add(time.Hour)},
	"what a lost verb made and the restored schedule has runs under the restored revision": {
		set: func(s *situation) { s.e.Epoch, s.e.Revision, s.e.Pool = 8, 5, "lost" }, act: rearm, epoch: base + 1, revision: 3, wake: noon.Add(10 * time.Minute)},
	"what a lost verb made at a time that the restored schedule lacks is withdrawn": {
		set: func(s *situation) { s.e.Epoch, s.e.ScheduledAt = 8, noon.Add(time.Minute) }, act: withdraw},
	"what a lost verb made of a job that was paused is withdrawn":            {set: func(s *situation) { s.e.Epoch, s.h.State = 8, job.Paused }, act: withdraw},
	"what a lost verb made of a job that was deleted is withdrawn":           {set: func(s *situation) { s.e.Epoch, s.h.State = 8, job.Deleted }, act: withdraw},
	"a time before the last verb of the backup is that verb's to dispose of": {set: func(s *situation) { s.e.Epoch, s.h.UpdatedAt = 8, noon }, act: withdraw},
	"what an edit carries over runs its own revision": {
		set: func(s *situation) {
			s.e.Epoch, s.e.Revision, s.h.UpdatedAt, s.carry = 6, 2, noon.Add(time.Minute), noon
		}, act: rearm, epoch: base + 1, revision: 2, wake: noon.Add(10 * time.Minute)},
	"what an edit does not carry over is withdrawn": {
		set: func(s *situation) {
			s.e.Epoch, s.e.Revision, s.h.UpdatedAt, s.carry = 6, 2, noon.Add(time.Minute), noon.Add(-time.Second)
		}, act: withdraw},
	"what a repair has judged already is left, whatever the head says": {
		set: func(s *situation) { s.e.Epoch, s.h.State = base+1, job.Paused }, act: leave},
	"what a lost verb withdrew behind the cursor is made again": {set: func(s *situation) { s.e.Status = job.Withdrawn }, act: rearm, epoch: base + 1, revision: 3, wake: noon.Add(10 * time.Minute)},
	"what a lost verb withdrew ahead of the cursor is left to the cursor": {
		set: func(s *situation) { s.e.Status, s.h.NextFireAt = job.Withdrawn, noon }, act: leave},
	"what an older verb withdrew stays so": {set: func(s *situation) { s.e.Status, s.h.UpdatedAt = job.Withdrawn, noon }, act: leave},
	"a running one is woken when its lease has passed": {
		set: func(s *situation) { begin(s, job.Running); s.e.Lease.Until = noon.Add(11 * time.Minute) }, act: rearm, epoch: 7, revision: 3, wake: noon.Add(11 * time.Minute)},
	"a running one whose wake-up is near keeps it": {set: func(s *situation) { begin(s, job.Running); s.e.Wake.At = noon }, act: leave},
	"a running one of a lost revision runs the restored one": {
		set: func(s *situation) { begin(s, job.Running); s.e.Wake.At, s.e.Revision, s.e.Epoch = noon, 5, 9 }, act: rearm, epoch: 9, revision: 3, wake: noon.Add(10 * time.Minute)},
	"one that waits for its retry is woken then": {
		set: func(s *situation) { begin(s, job.RetryWait); s.e.AvailableAt = noon.Add(time.Hour) }, act: rearm, epoch: 7, revision: 3, wake: noon.Add(time.Hour)},
	"one that has begun goes on although the job is paused":     {set: func(s *situation) { begin(s, job.RetryWait); s.h.State = job.Paused }, act: rearm, epoch: 7, revision: 3, wake: noon.Add(10 * time.Minute)},
	"a manual run is kept, whatever the schedule":               {set: func(s *situation) { manual(s); s.e.Epoch, s.h.State = 8, job.Paused }, act: rearm, epoch: base + 1, revision: 3, wake: noon.Add(10 * time.Minute)},
	"a manual run that was judged already is left":              {set: func(s *situation) { manual(s); s.e.Epoch = base + 1 }, act: leave},
	"a manual run that was withdrawn stays so":                  {set: func(s *situation) { manual(s); s.e.Status = job.Withdrawn }, act: leave},
	"without its job what has not begun is withdrawn":           {set: func(s *situation) { s.gone = true }, act: withdraw},
	"without its job a manual run is withdrawn":                 {set: func(s *situation) { manual(s); s.gone = true }, act: withdraw},
	"without its job what was withdrawn stays so":               {set: func(s *situation) { s.gone, s.e.Status = true, job.Withdrawn }, act: leave},
	"without its job what has begun is given up":                {set: func(s *situation) { begin(s, job.RetryWait); s.gone = true }, act: giveUp},
	"what has ended is left":                                    {set: func(s *situation) { begin(s, job.Failed) }, act: leave},
	"what a person has to look at is left":                      {set: func(s *situation) { begin(s, job.NeedsReview) }, act: leave},
	"a child of a job that was paused is kept, like its parent": {set: func(s *situation) { child(s); s.e.Epoch, s.h.State = 8, job.Paused }, act: rearm, epoch: base + 1, revision: 3, wake: noon.Add(10 * time.Minute)},
	"a child that has ended and may be on its page is woken":    {set: func(s *situation) { child(s); begin(s, job.Succeeded); s.open = true }, act: rearm, epoch: 7, revision: 3, wake: noon.Add(10 * time.Minute)},
	"a child that has ended, and all is done, is left":          {set: func(s *situation) { child(s); begin(s, job.Succeeded) }, act: leave},
	"a record of a range is left":                               {set: func(s *situation) { s.e.Range, s.e.Status = &job.Range{}, job.Missed }, act: leave},
}

func TestJudge(t *testing.T) {
	for says, row := range verdicts {
		t.Run(says, func(t *testing.T) {
			s := situation{
				e: &job.Execution{Key: job.ScheduledKey(noon), Revision: 3, Epoch: 7, Status: job.Scheduled, Pool: "own", AvailableAt: noon},
				h: &job.Head{State: job.Enabled, Revision: 3, Epoch: 7, RunsFrom: 5, Pool: "restored", Schedule: job.Schedule{Cron: "0 * * * *", Zone: "UTC"},
					UpdatedAt: noon.Add(-time.Hour), NextFireAt: noon.Add(time.Hour)},
			}
			row.set(&s)
			got := judge(s.facts(t))
			if got.act != row.act {
				t.Fatalf("it is to %s, want %s", got.act, row.act)
			}
			if row.act == rearm && (got.rearm.Epoch != row.epoch || got.rearm.Revision != row.revision || !got.rearm.Wake.Equal(row.wake) || got.rearm.Pool == "lost") {
				t.Errorf("it runs on as %+v", got.rearm)
			}
			if want := s.lost(); got.lost != want {
				t.Errorf("the lost revision is %d, want %d", got.lost, want)
			}
		})
	}
}

func (s *situation) facts(t *testing.T) facts {
	t.Helper()
	f := facts{execution: s.e, base: base, carry: s.carry, open: s.open, now: noon.Add(10 * time.Minute)}
	if !s.gone {
		plan, err := schedule.Compile(s.h.Schedule, s.h.Anchor)
		if err != nil {
			t.Fatal(err)
		}
		f.head, f.plan = s.h, plan
	}
	return f
}

// lost is the revision that only the execution knows.
func (s *situation) lost() int {
	if !s.gone && s.e.Revision > s.h.Revision {
		return s.e.Revision
	}
	return 0
}

func begin(s *situation, status job.Status) { s.e.Status, s.e.Attempt = status, 1 }

func child(s *situation) { s.e.Key = job.ChildKey(s.e.Key, 3) }

func manual(s *situation) { s.e.Kind = job.KindManual }
