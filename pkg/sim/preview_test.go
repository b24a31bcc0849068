package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// coming lists what the preview says of the times from now up to that time of day.
func (s *stage) coming(upto string) (list []string) {
	s.Helper()
	fires, err := s.planes().Control.NextFires(s.Context(), s.ref, time.Time{}, 50)
	s.must(err)
	for _, f := range fires {
		if at := f.At.Format("15:04:05"); at <= upto {
			list = append(list, at)
		}
	}
	return list
}

// Each minute around a switch-over the preview is asked, and so is the next time
// that the job shows: both are what then comes.
func TestAPreviewAroundASwitchOverIsWhatThenComes(t *testing.T) {
	every4 := job.Definition{Schedule: job.Schedule{Cron: "*/4 * * * *"}}
	for _, at := range []string{"00:01:00", "00:12:00", "00:20:00", "00:25:00"} {
		t.Run(at, func(t *testing.T) {
			onStage(t, job.Definition{Schedule: job.Schedule{Cron: "*/10 * * * *"}}, func(s *stage) {
				_, err := s.later(every4, at)
				s.must(err)
				said := map[string][]string{}
				for now := ""; now < "00:37:00"; now = time.Now().UTC().Format("15:04:05") {
					said[time.Now().UTC().Format("15:04:05")] = s.coming("00:36:00")
					s.scan(s.planes().Trigger)
					said[time.Now().UTC().Format("15:04:05")+" after the scan"] = s.coming("00:36:00")
					time.Sleep(time.Minute)
				}
				for asked, list := range said {
					var came []string
					for _, e := range s.made() {
						if when, _, _ := strings.Cut(e, " "); when > asked[:8] && when <= "00:36:00" {
							came = append(came, when)
						}
					}
					if !slices.Equal(list, came) {
						s.Errorf("asked at %s: %v\nthere came %v", asked, list, came)
					}
				}
			})
		})
	}
}

// What an edit says that comes and goes is the difference of what was to come
// before it and what is after it, wherever the two begin to differ.
func TestAnEditTellsWhatComesAndGoes(t *testing.T) {
	every10 := job.Definition{Schedule: job.Schedule{Cron: "*/10 * * * *"}}
	every4 := job.Definition{Schedule: job.Schedule{Cron: "*/4 * * * *"}}
	hourly := job.Definition{Schedule: job.Schedule{Cron: "0 * * * *"}}
	paused := every10
	paused.Paused = true
	for says, row := range map[string]struct {
		first func(s *stage)
		edit  func(s *stage) (control.PutResult, error)
		back  bool
		none  bool
	}{
		"at once":                            {edit: func(s *stage) (control.PutResult, error) { return s.edit(every4) }},
		"soon":                               {edit: func(s *stage) (control.PutResult, error) { return s.later(every4, "00:25:00") }},
		"behind the times that are compared": {edit: func(s *stage) (control.PutResult, error) { return s.later(every4, "19:25:00") }},
		"of what waits, which is taken back": {first: func(s *stage) { _, err := s.later(every4, "19:25:00"); s.must(err) }, back: true,
			edit: func(s *stage) (control.PutResult, error) { return s.edit(every10) }},
		"another one in place of what waits": {first: func(s *stage) { _, err := s.later(every4, "19:25:00"); s.must(err) }, back: true,
			edit: func(s *stage) (control.PutResult, error) { return s.later(hourly, "20:25:00") }},
		"that pauses": {edit: func(s *stage) (control.PutResult, error) { return s.edit(paused) }},
		"of nothing that has times": {first: func(s *stage) { _, err := s.edit(paused); s.must(err) }, none: true,
			edit: func(s *stage) (control.PutResult, error) { d := every4; d.Paused = true; return s.edit(d) }},
	} {
		t.Run(says, func(t *testing.T) {
			onStage(t, every10, func(s *stage) {
				if row.first != nil {
					row.first(s)
				}
				before := s.fires()
				result, err := row.edit(s)
				s.must(err)
				after := s.fires()
				if len(result.Appear)+len(result.Vanish) == 0 != row.none || result.TakenBack.IsZero() == row.back {
					s.Errorf("it says that %v come, %v go, and what waited for %s is taken back", result.Appear, result.Vanish, result.TakenBack)
				}
				for _, t := range result.Appear {
					if slices.ContainsFunc(before, t.Equal) || !slices.ContainsFunc(after, t.Equal) {
						s.Errorf("%s does not appear", t)
					}
				}
				for _, t := range result.Vanish {
					if !slices.ContainsFunc(before, t.Equal) || slices.ContainsFunc(after, t.Equal) {
						s.Errorf("%s does not vanish", t)
					}
				}
				if len(after) > 0 && !result.Next.Equal(after[0]) || len(after) == 0 != result.Next.IsZero() {
					s.Errorf("the next time is %s, not one of %v", result.Next, after[:min(2, len(after))])
				}
			})
		})
	}
}

func (s *stage) edit(d job.Definition) (control.PutResult, error) {
	s.Helper()
	return s.planes().Control.Put(s.Context(), putOf(s.ref, d))
}

// fires are the coming times that the preview shows.
func (s *stage) fires() (list []time.Time) {
	s.Helper()
	fires, err := s.planes().Control.NextFires(s.Context(), s.ref, time.Time{}, 400)
	s.must(err)
	for _, f := range fires {
		list = append(list, f.At)
	}
	return list
}

// A job that is new is not one whose times stay for a while, and one that begins
// paused has none to tell of.
func TestANewJobTellsItsTimes(t *testing.T) {
	onStage(t, job.Definition{Schedule: job.Schedule{Cron: "*/10 * * * *"}}, func(s *stage) {
		request := putOf(job.Ref{Tenant: s.ref.Tenant, Job: "other"}, job.Definition{Schedule: job.Schedule{Cron: "0 * * * *"}})
		request.EffectiveAt = time.Now().Add(time.Hour).Truncate(time.Second)
		if _, err := s.planes().Control.Put(s.Context(), request); job.CodeOf(err) != job.CodeInvalid || fmt.Sprint(err) == "" {
			s.Errorf("a new job that takes effect later gives %v", err)
		}
		request.EffectiveAt, request.Definition.Paused = time.Time{}, true
		result, err := s.planes().Control.Put(s.Context(), request)
		s.must(err)
		if len(result.Appear) > 0 || !result.Next.IsZero() {
			s.Errorf("a job that begins paused has the times %v, next %s", result.Appear, result.Next)
		}
	})
}
