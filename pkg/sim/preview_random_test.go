package sim_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Verb after verb at any moment: what the preview says after each of them is what has
// come when the next one follows, no time more and none less.
func TestWhateverVerbsCameThePreviewIsWhatComes(t *testing.T) {
	seeds := 60
	if testing.Short() {
		seeds = 8
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			draw := rand.New(rand.NewPCG(uint64(seed), 7))
			onStage(t, drawn(draw), func(s *stage) {
				history := ""
				for range 14 {
					history += s.anyVerb(draw) + "\n"
					upto := time.Now().Add(time.Duration(1+draw.IntN(11)) * time.Minute)
					asked := time.Now()
					said := within(s.fires(), asked, upto)
					for time.Now().Before(upto) {
						s.scan(s.planes().Trigger)
						time.Sleep(min(time.Minute, time.Until(upto)))
					}
					s.scan(s.planes().Trigger)
					if came := within(s.scheduled(), asked, upto); !slices.EqualFunc(said, came, time.Time.Equal) {
						s.Fatalf("after\n%sat %s the preview said\n%v\nand there came\n%v", history, asked.UTC(), said, came)
					}
				}
			})
		})
	}
}

// drawn is a definition with some schedule.
func drawn(draw *rand.Rand) job.Definition {
	all := []job.Schedule{{Cron: "*/2 * * * *"}, {Cron: "*/7 * * * *"}, {Cron: "1,31 * * * *"}, {Every: job.Duration(50 * time.Second)}, {Every: job.Duration(3 * time.Minute)},
		{Cron: "* * * * *", Zone: "Europe/Berlin"}, {Cron: "0 0 1 1 *"}}
	d := job.Definition{Schedule: all[draw.IntN(len(all))], Paused: draw.IntN(8) == 0, Description: fmt.Sprint(draw.IntN(3))}
	if draw.IntN(6) == 0 {
		d.OnResume = job.ResumeCatchUp
	}
	return d
}

// anyVerb does something to the job and tells what; what is refused has done nothing.
func (s *stage) anyVerb(draw *rand.Rand) string {
	s.Helper()
	verbs := s.planes().Control
	var done string
	var err error
	switch draw.IntN(8) {
	case 0:
		done = "pause"
		_, err = verbs.Pause(s.Context(), s.ref, "test")
	case 1, 2:
		done = "resume from now"
		_, err = verbs.Resume(s.Context(), s.ref, "test", job.ResumeFromNow)
	case 3:
		done = "delete"
		_, err = verbs.Delete(s.Context(), s.ref, "test", 0)
		s.must(err)
		_, err = verbs.Put(s.Context(), putOf(s.ref, drawn(draw)))
	case 4, 5:
		request := putOf(s.ref, drawn(draw))
		request.EffectiveAt = time.Now().Truncate(time.Second).Add(time.Duration(draw.IntN(1200)-60) * time.Second)
		done = fmt.Sprintf("edit to %+v at %s", request.Definition.Schedule, request.EffectiveAt.UTC())
		err = s.told(request)
	case 6:
		d := drawn(draw)
		done = fmt.Sprintf("edit to %+v", d.Schedule)
		err = s.told(putOf(s.ref, d))
	default:
		done = "nothing"
	}
	if job.CodeOf(err).Class() == job.ClassBroken && err != nil {
		s.Fatal(err)
	}
	return fmt.Sprintf("%s %s: %v", time.Now().UTC().Format(time.TimeOnly), done, err)
}

// told makes an edit and holds what it says against the previews before and after.
func (s *stage) told(request control.PutRequest) error {
	s.Helper()
	before := s.fires()
	result, err := s.planes().Control.Put(s.Context(), request)
	if err != nil {
		return err
	}
	after := s.fires()
	here := func(list []time.Time, at time.Time) bool { return slices.ContainsFunc(list, at.Equal) }
	for _, at := range result.Appear {
		if here(before, at) || !here(after, at) {
			s.Errorf("%s does not appear by %+v", at, request)
		}
	}
	for _, at := range result.Vanish {
		if !here(before, at) || here(after, at) {
			s.Errorf("%s does not vanish by %+v", at, request)
		}
	}
	n := min(len(before), len(after))
	if differ := len(before) == 0 != (len(after) == 0) || !slices.EqualFunc(before[:n], after[:n], time.Time.Equal); differ == (len(result.Appear)+len(result.Vanish) == 0) {
		s.Errorf("%+v says that %d times appear and %d vanish\n%v\n%v", request, len(result.Appear), len(result.Vanish), before[:n], after[:n])
	}
	if result.Action != control.Unchanged && (len(after) == 0 != result.Next.IsZero() || len(after) > 0 && !after[0].Equal(result.Next)) {
		s.Errorf("%+v has the next time %s", request, result.Next)
	}
	return nil
}

// scheduled are the times of the executions that may still run.
func (s *stage) scheduled() (list []time.Time) {
	s.Helper()
	stored, err := s.w.Stored(s.Context(), s.ref)
	s.must(err)
	for _, e := range stored {
		if e.Range == nil && e.Kind == job.KindScheduled && e.Status == job.Scheduled {
			list = append(list, e.ScheduledAt)
		}
	}
	slices.SortFunc(list, time.Time.Compare)
	return list
}

// within are the times after from, up to and at upto.
func within(list []time.Time, from, upto time.Time) (found []time.Time) {
	for _, at := range list {
		if at.After(from) && !at.After(upto) {
			found = append(found, at)
		}
	}
	return found
}

// Verb after verb, and nobody scans in between: each time that the preview of then
// said has an execution or is on record as missed, once, and there is none beside.
func TestWhateverVerbsCameNoTimeThatWasSaidVanishesInAnOutage(t *testing.T) {
	seeds := 60
	if testing.Short() {
		seeds = 8
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			draw := rand.New(rand.NewPCG(uint64(seed), 11))
			policies := []job.MisfirePolicy{job.MisfireSkip, job.MisfireFireOnce, job.MisfireFireAll, job.MisfireCoalesce}
			policy := &job.Misfire{Policy: policies[draw.IntN(len(policies))], Max: 1 + draw.IntN(20)}
			first := drawn(draw)
			first.Misfire = policy
			onStage(t, first, func(s *stage) {
				said := map[int64]bool{}
				history := fmt.Sprintf("%+v\n", *policy)
				for range 10 {
					asked := time.Now()
					upto := asked.Add(time.Duration(draw.IntN(25*60)) * time.Second)
					for _, at := range within(s.fires(), asked, upto) {
						said[at.Unix()] = true
					}
					time.Sleep(time.Until(upto))
					if draw.IntN(2) == 0 {
						s.scan(s.planes().Trigger)
					}
					history += s.anyVerbUnder(draw, policy) + "\n"
				}
				_, _ = s.planes().Control.Resume(s.Context(), s.ref, "test", job.ResumeFromNow) // a gap is closed, whatever it answers
				s.scan(s.planes().Trigger)
				s.scan(s.planes().Trigger)
				s.accounted(said, time.Now(), history)
			})
		})
	}
}

// anyVerbUnder is anyVerb with definitions of one misfire policy.
func (s *stage) anyVerbUnder(draw *rand.Rand, policy *job.Misfire) string {
	s.Helper()
	if draw.IntN(3) > 0 {
		return s.anyVerb(draw)
	}
	d := drawn(draw)
	d.Misfire = policy
	_, err := s.edit(d)
	return fmt.Sprintf("%s edit to %+v: %v", time.Now().UTC().Format(time.TimeOnly), d.Schedule, err)
}

// accounted holds what is stored of the times up to now against what was said.
func (s *stage) accounted(said map[int64]bool, now time.Time, history string) {
	s.Helper()
	stored, err := s.w.Stored(s.Context(), s.ref)
	s.must(err)
	var ranges []job.Range
	there := map[int64]bool{}
	for _, e := range stored {
		switch at := e.ScheduledAt.Unix(); {
		case e.Range != nil:
			ranges = append(ranges, *e.Range)
		case e.ScheduledAt.After(now):
		case !said[at]:
			if e.Status != job.Withdrawn {
				s.Errorf("after\n%snobody said %s, which is %s", history, e.ScheduledAt, e.Status)
			}
		default:
			there[at] = true
		}
	}
	for at := range said {
		when := time.Unix(at, 0)
		inside := slices.ContainsFunc(ranges, func(r job.Range) bool { return !when.Before(r.From) && !when.After(r.To) })
		if !there[at] && !inside {
			s.Errorf("after\n%s%s has vanished", history, when.UTC())
		}
	}
}
