package httpapi

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

type sweeperStub struct {
	all job.Sweeps
	err error
}

func (s sweeperStub) Sweeps(context.Context) (job.Sweeps, error) { return s.all, s.err }

func TestAskingForSweeps(t *testing.T) {
	w := newWorld(t)
	if p := problemOf(t, w.ask("GET", "/v1/sweeps", "")); p.Code != job.CodeNotSupported {
		t.Errorf("without a way to look: %+v", p)
	}
	w.options.Sweeper = sweeperStub{all: job.Sweeps{
		TZDB: job.TZDBSweep{Version: "2025c", NotedAt: noon.Add(-time.Hour), OtherAt: noon.Add(-time.Hour), Walks: 2, Moved: 3, Withdrawn: 1,
			Walk: job.Walk{BegunAt: noon.Add(-30 * time.Minute), DoneAt: noon.Add(-20 * time.Minute), Jobs: 40}},
		Purge: job.PurgeSweep{Walk: job.Walk{BegunAt: noon, Jobs: 7, Changed: 2}, Purged: 9}}}
	want := `{"tzdb":{"state":"settled","version":"2025c","service":"` + schedule.TZDBVersion() + `","noted_at":"2026-07-12T11:00:00.001Z","older_at":"2026-07-12T11:00:00.001Z",` +
		`"walks":2,"jobs":40,"left":0,"moved":3,"withdrawn":1,"begun_at":"2026-07-12T11:30:00.001Z","done_at":"2026-07-12T11:40:00.001Z"},` +
		`"purge":{"state":"walking","jobs":7,"purged":2,"purged_in_all":9,"begun_at":"2026-07-12T12:00:00.001Z","done_at":null},"restore_pending":false}`
	if got := strings.TrimSpace(w.ask("GET", "/v1/sweeps", "").Body.String()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	w.options.Sweeper = sweeperStub{err: &job.Error{Code: job.CodeThrottled, Message: "full", Fix: "wait"}}
	if answer := w.ask("GET", "/v1/sweeps", ""); answer.Code != 429 {
		t.Errorf("got %d", answer.Code)
	}
}

func TestTheStateOfASweepInAWord(t *testing.T) {
	begun := noon.Add(time.Hour)
	done := job.Walk{BegunAt: begun, DoneAt: begun.Add(time.Minute)}
	for want, s := range map[string]job.TZDBSweep{
		"none":    {},
		"walking": {Version: "2025c", NotedAt: noon, Walk: job.Walk{BegunAt: begun}},
		"settled": {Version: "2025c", NotedAt: noon, Walk: done},
		"waiting": {Version: "2025c", NotedAt: begun, Walk: done}, // an older build may still have been there
	} {
		if got := showTZDB(s).State; got != want {
			t.Errorf("%+v is %s, want %s", s, got, want)
		}
	}
	left := done
	left.Left = 1
	for why, s := range map[string]job.TZDBSweep{"a job was left": {Version: "2025c", NotedAt: noon, Walk: left}, "an older build has ticked": {Version: "2025c", NotedAt: noon, Walk: done, OtherAt: begun}} {
		if s.Settled() {
			t.Errorf("settled although %s", why)
		}
	}
}
