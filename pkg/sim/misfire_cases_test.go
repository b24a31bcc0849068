package sim_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// misfireCase is an outage of the oracle, and what is to become of the times in it.
type misfireCase struct {
	ID         string
	Expr       string
	Dialect    job.Dialect
	Zone       string
	Gap        job.GapPolicy
	Overlap    job.OverlapPolicy
	Cursor     time.Time
	UpAt       time.Time `json:"up_at"`
	Start, End time.Time
	Dispatched []time.Time
	Policy     struct {
		Misfire   job.MisfirePolicy
		Window    *int `json:"window_s"`
		Max       *int
		Tolerance int `json:"tolerance_s"`
	}
	MissedCount  int         `json:"missed_count"`
	CatchUp      []time.Time `json:"expected_catchup"`
	CatchUpCount int         `json:"expected_catchup_count"`
	CatchUpFirst time.Time   `json:"expected_catchup_first"`
	CatchUpLast  time.Time   `json:"expected_catchup_last"`
	OnTime       []time.Time `json:"on_time_at_up"`
	Next         []time.Time `json:"next_regular"`
}

// Cases that say more than what a scheduler finds when it comes back: two
// executions at once, which waits for the concurrency policies.
var otherwiseShown = map[string]bool{"mf-33": true}

func misfireCases(t *testing.T) (cases []misfireCase) {
	t.Helper()
	file, err := os.Open("../schedule/testdata/misfire.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var c misfireCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if !otherwiseShown[c.ID] {
			cases = append(cases, c)
		}
	}
	if len(cases) < 16 {
		t.Fatalf("%d cases", len(cases))
	}
	return cases
}

func (c misfireCase) schedule() job.Schedule {
	return job.Schedule{Cron: c.Expr, Dialect: c.Dialect, Zone: c.Zone, Gap: c.Gap, Overlap: c.Overlap, Start: c.Start, End: c.End}
}

func (c misfireCase) misfire() job.Misfire {
	m := job.Misfire{Policy: c.Policy.Misfire, Tolerance: job.Duration(time.Duration(c.Policy.Tolerance) * time.Second)}
	if c.Policy.Window != nil {
		m.Window = job.Duration(time.Duration(*c.Policy.Window) * time.Second)
	}
	if c.Policy.Max != nil {
		m.Max = *c.Policy.Max
	}
	return m
}

// The scheduler is really down over each outage of the oracle. Of the two that
// come up, the second one two minutes after the first, which stands still between
// its decision and its end: there is one decision, the one that the oracle makes.
func TestTheSchedulerComesBackAsTheOracleSays(t *testing.T) {
	for _, c := range misfireCases(t) {
		for _, scanners := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s with %d scanners", c.ID, scanners), func(t *testing.T) {
				d, _ := soonHourly()
				onStage(t, d, func(s *stage) { c.play(s, scanners) })
			})
		}
	}
}

func (c misfireCase) play(s *stage, scanners int) {
	plan, err := schedule.Compile(c.schedule(), c.Cursor)
	s.must(err)
	old := s.head(job.Enabled)
	head := *old
	head.Schedule, head.Misfire, head.LastScheduled = plan.Schedule(), c.misfire(), c.Cursor
	head.NextFireAt, _ = plan.Next(c.Cursor)
	head.Epoch++
	head.RunsFrom = head.Epoch
	s.must(s.planes().Store.ChangeHead(s.Context(), job.HeadChange{Old: old, New: head, Verb: "test", At: time.Now()}))
	time.Sleep(time.Until(c.UpAt))
	for _, at := range c.Dispatched {
		s.dispatched(at, head.Epoch)
	}
	if scanners == 1 {
		s.scan(s.planes().Trigger)
	} else {
		s.scan(s.scanner(hooks{beforeAdvance: func() error {
			time.Sleep(2 * time.Minute)
			s.scan(s.planes().Trigger)
			return errCrash
		}}))
	}
	c.judge(s, head.Epoch, scanners == 1)
}

// dispatched is a time that had run before the scheduler went down.
func (s *stage) dispatched(at time.Time, epoch int64) {
	s.Helper()
	store := s.planes().Store
	e := &job.Execution{Ref: s.ref, Key: job.ScheduledKey(at), Revision: 1, Epoch: epoch, Status: job.Scheduled, Pool: "fast-io", CreatedAt: at, AvailableAt: at,
		Reason: lifecycle.Materialised, Schema: job.Schema}
	_, err := store.Put(s.Context(), e)
	s.must(err)
	claimed, err := store.Claim(s.Context(), job.ClaimRequest{Ref: s.ref, Key: e.Key, Epoch: epoch, Owner: "w", Nonce: "n", Now: time.Now(), Until: time.Now().Add(time.Minute)})
	s.must(err)
	s.must(store.Settle(s.Context(), claimed, lifecycle.Settled(time.Now(), "w"), time.Time{}))
}

// judge holds what is stored against the oracle. A second scanner, two minutes
// later, has a view of its own of what was on time for the first; not of what was
// late.
func (c misfireCase) judge(s *stage, epoch int64, alone bool) {
	s.Helper()
	stored, err := s.w.Stored(s.Context(), s.ref)
	s.must(err)
	var caught, onTime []time.Time
	missed, upto := 0, c.UpAt
	if !alone {
		upto = c.UpAt.Add(-time.Duration(c.Policy.Tolerance)*time.Second - time.Second)
	}
	for _, e := range stored {
		at := e.ScheduledAt
		switch {
		case e.Epoch != epoch || at.After(upto):
		case e.Range != nil && !e.Range.To.After(upto):
			missed += e.Range.Count
		case e.Range == nil && e.Reason == lifecycle.CaughtUp:
			caught = append(caught, at)
		case e.Range == nil && e.Status == job.Scheduled:
			onTime = append(onTime, at)
		}
	}
	slices.SortFunc(caught, time.Time.Compare)
	slices.SortFunc(onTime, time.Time.Compare)
	if len(caught) != c.CatchUpCount || c.CatchUpCount > 0 && (!caught[0].Equal(c.CatchUpFirst) || !caught[len(caught)-1].Equal(c.CatchUpLast)) {
		s.Errorf("caught up %v, want %d from %s to %s", caught, c.CatchUpCount, c.CatchUpFirst, c.CatchUpLast)
	}
	if c.CatchUp != nil && !slices.EqualFunc(caught, c.CatchUp, time.Time.Equal) {
		s.Errorf("caught up %v, want %v", caught, c.CatchUp)
	}
	if want := c.MissedCount - c.CatchUpCount - len(c.Dispatched); missed != max(want, 0) {
		s.Errorf("%d times are on record as missed, want %d", missed, want)
	}
	if !alone {
		return
	}
	if !slices.EqualFunc(onTime, c.OnTime, time.Time.Equal) {
		s.Errorf("on time are %v, want %v", onTime, c.OnTime)
	}
	if len(c.Next) > 0 {
		if e := s.execution(c.Next[0]); e == nil && !s.headNow().NextFireAt.Equal(c.Next[0]) {
			s.Errorf("the next time is %s, want %s", s.headNow().NextFireAt, c.Next[0])
		}
	}
}

func (s *stage) headNow() *job.Head {
	s.Helper()
	head, err := s.planes().Store.Head(s.Context(), s.ref)
	s.must(err)
	return head
}
