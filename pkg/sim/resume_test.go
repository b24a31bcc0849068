package sim_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// A job of every ten minutes is paused at 00:25 and resumed at 01:05:30: what
// becomes of 00:30 to 01:00, which fell into the pause.
func TestWhatBecomesOfTheTimesOfAPause(t *testing.T) {
	all := []string{"00:30", "00:40", "00:50", "01:00"}
	for says, row := range map[string]struct {
		definition job.Definition
		how        job.OnResume
		meanwhile  func(s *stage, d job.Definition)
		made       []string // times of the pause that have an execution that runs
		missed     int
	}{
		"they are passed over, by default":                                         {},
		"they are passed over when the verb says so, whatever the definition does": {definition: job.Definition{OnResume: job.ResumeCatchUp}, how: job.ResumeFromNow},
		"they are late when the definition says so, and one runs by default":       {definition: job.Definition{OnResume: job.ResumeCatchUp}, made: all[3:], missed: 3},
		"they are late when the verb says so":                                      {how: job.ResumeCatchUp, made: all[3:], missed: 3},
		"FIRE_ALL runs each":                                                       {definition: job.Definition{Misfire: &job.Misfire{Policy: job.MisfireFireAll}}, how: job.ResumeCatchUp, made: all},
		"SKIP runs none":                                                           {definition: job.Definition{Misfire: &job.Misfire{Policy: job.MisfireSkip}}, how: job.ResumeCatchUp, missed: 4},
		"those before an edit in the pause are not times of the job that is resumed": {definition: job.Definition{Misfire: &job.Misfire{Policy: job.MisfireFireAll}}, how: job.ResumeCatchUp,
			meanwhile: func(s *stage, d job.Definition) {
				d.Description = "edited"
				s.apply(d)
			}, made: all[2:]},
	} {
		t.Run(says, func(t *testing.T) {
			d := row.definition
			d.Schedule = job.Schedule{Cron: "*/10 * * * *"}
			onStage(t, d, func(s *stage) {
				time.Sleep(25 * time.Minute)
				s.scan(s.planes().Trigger)
				_, err := s.planes().Control.Pause(s.Context(), s.ref, "test")
				s.must(err)
				time.Sleep(20 * time.Minute)
				if row.meanwhile != nil {
					row.meanwhile(s, d)
				}
				time.Sleep(20*time.Minute + 30*time.Second)
				_, err = s.planes().Control.Resume(s.Context(), s.ref, "test", row.how)
				s.must(err)
				made, missed := s.pauseTimes()
				if !slices.Equal(made, row.made) || missed != row.missed {
					s.Errorf("%v run and %d are missed, want %v and %d", made, missed, row.made, row.missed)
				}
			})
		})
	}
}

// pauseTimes lists the times of half past midnight to one that will run, and
// counts those on record as missed.
func (s *stage) pauseTimes() (made []string, missed int) {
	s.Helper()
	stored, err := s.w.Stored(s.Context(), s.ref)
	s.must(err)
	for _, e := range stored {
		at := e.ScheduledAt.Format("15:04")
		switch {
		case at < "00:30" || at > "01:00":
		case e.Range != nil:
			missed += e.Range.Count
		case e.Status == job.Scheduled:
			made = append(made, at)
		}
	}
	slices.Sort(made)
	return made, missed
}

// An end of the schedule that fell into the pause does not keep what is caught
// up from running.
func TestAScheduleThatEndedInThePauseCanBeCaughtUp(t *testing.T) {
	end := time.Date(2000, 1, 1, 0, 45, 0, 0, time.UTC)
	onStage(t, job.Definition{Schedule: job.Schedule{Cron: "*/10 * * * *", End: end}}, func(s *stage) {
		time.Sleep(25 * time.Minute)
		_, err := s.planes().Control.Pause(s.Context(), s.ref, "test")
		s.must(err)
		time.Sleep(time.Hour)
		_, err = s.planes().Control.Resume(s.Context(), s.ref, "test", job.ResumeFromNow)
		if said := (*job.Error)(nil); !errors.As(err, &said) || said.Code != job.CodeSchedulePast || !strings.Contains(said.Fix, string(job.ResumeCatchUp)) {
			s.Errorf("from now on there is no time any more: %v", err)
		}
		_, err = s.planes().Control.Resume(s.Context(), s.ref, "test", job.ResumeCatchUp)
		s.must(err)
		if made, missed := s.pauseTimes(); fmt.Sprint(made) != "[00:40]" || missed != 1 {
			s.Errorf("%v run, %d missed", made, missed)
		}
		s.head(job.Completed)
		if _, err := s.planes().Control.RunNow(s.Context(), control.RunRequest{Ref: s.ref}); err != nil {
			s.Error(err)
		}
	})
}
