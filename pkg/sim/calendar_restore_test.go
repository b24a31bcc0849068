package sim_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

// After a restore jobs keep to their calendars, and the calendars know their jobs.
func TestARestoreKeepsCalendars(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := world(t, sim.Options{})
		putCalendar(t, w, job.Calendar{Name: "stops", Weekly: []job.Window{{Days: "*", From: "00:16", To: "00:30"}}})
		w.Start(t.Context())
		ref := put(t, w, job.Definition{Job: "kept", Schedule: job.Schedule{Cron: "* * * * *", Exclude: []string{"stops"}}})
		time.Sleep(10*time.Minute + 30*time.Second)
		w.Stop()
		var b backup
		b.definitions(t, w)
		b.executions = scanned(t, w, w.Control.Store.Tables().Executions)
		restored := restoredWorld(t, b, sim.Options{})
		repair(t, restored)
		restored.Start(t.Context())
		time.Sleep(25 * time.Minute)
		restored.Stop()
		got := began(restored, ref)
		for _, at := range []string{"01-01 00:11", "01-01 00:15", "01-01 00:30", "01-01 00:33"} {
			if !slices.Contains(got, at) {
				t.Errorf("%s did not run: %v", at, got)
			}
		}
		for _, at := range []string{"01-01 00:16", "01-01 00:29"} {
			if slices.Contains(got, at) {
				t.Errorf("%s ran, although the calendar excludes it", at)
			}
		}
		if _, use, err := restored.Control.Control.GetCalendar(t.Context(), job.DefaultTenant, "stops"); err != nil || use != (control.CalendarUse{Jobs: 1}) {
			t.Errorf("used by %+v, %v", use, err)
		}
	})
}
