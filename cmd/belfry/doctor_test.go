package main

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/httpapi"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// sweeper has followed this program's database and purged this morning.
type sweeper struct{}

func (sweeper) Sweeps(context.Context) (job.Sweeps, error) {
	early := noon.Add(-2 * time.Hour)
	done := job.Walk{BegunAt: early, DoneAt: early, Jobs: 3}
	return job.Sweeps{TZDB: job.TZDBSweep{Version: schedule.TZDBVersion(), NotedAt: early.Add(-time.Hour), Walk: done, Walks: 2, Moved: 1}, Purge: job.PurgeSweep{Walk: done}}, nil
}

// level has no shard that is behind.
type level struct{}

func (level) Backlogs(context.Context) ([]job.Layout, []job.Backlog, error) {
	return []job.Layout{{Generation: 1, Shards: 4}}, nil, nil
}

func TestADoctorEndsWithZeroOnlyWhenNothingIsFound(t *testing.T) {
	t.Parallel()
	well := assembled(t)
	for name, c := range map[string]struct {
		options httpapi.Options
		code    int
		says    []string
	}{
		"a healthy one": {httpapi.Options{Sweeper: sweeper{}, Backlogs: level{}}, exitOK, nil},
		"one that is behind": {httpapi.Options{Sweeper: sweeper{}, Backlogs: backlogs{}}, exitFailed,
			[]string{"LOOK  shards   1 hold jobs that are overdue by a minute or more, at most 1m30s", "do: belfry shards"}},
		"one that is not ready": {httpapi.Options{Sweeper: sweeper{}, Backlogs: level{}, Ready: func(context.Context) error { return job.ErrLost }}, exitFailed, []string{"LOOK  service"}},
	} {
		server := httptest.NewServer(httpapi.New(well.Control, c.options))
		got := belfry(t, server.URL, "", "doctor")
		if got.code != c.code || (c.code == exitOK) == strings.Contains(got.out, "LOOK") {
			t.Errorf("%s: exit code %d\n%s%s", name, got.code, got.out, got.err)
		}
		for _, says := range c.says {
			if !strings.Contains(got.out, says) {
				t.Errorf("%s: %q is not in\n%s", name, says, got.out)
			}
		}
		var document struct {
			OK     bool    `json:"ok"`
			Checks []check `json:"checks"`
		}
		told := belfry(t, server.URL, "", "doctor", "--json")
		if err := json.Unmarshal([]byte(told.out), &document); err != nil || document.OK != (c.code == exitOK) || len(document.Checks) == 0 {
			t.Errorf("%s: %v in %s", name, err, told.out)
		}
		server.Close()
	}
	if got := belfry(t, "http://127.0.0.1:1", "", "doctor"); got.code != exitUnreachable {
		t.Errorf("nobody there: exit code %d", got.code)
	}
}

func TestWhatTheDoctorFindsInTheSweeps(t *testing.T) {
	t.Parallel()
	settled := client.TZDBSweep{State: "settled", Version: "2025c", Service: "2025c", NotedAt: client.At(noon.Add(-48 * time.Hour))}
	with := func(change func(*client.TZDBSweep)) check {
		t := settled
		change(&t)
		return tzdbCheck(t, noon)
	}
	ago := func(d time.Duration) client.Time { return client.At(noon.Add(-d)) }
	for name, c := range map[string]struct {
		check check
		ok    bool
	}{
		"all jobs follow":                       {with(func(*client.TZDBSweep) {}), true},
		"a walk that began a while ago":         {with(func(t *client.TZDBSweep) { t.State, t.NotedAt = "walking", ago(time.Hour) }), true},
		"a walk of days":                        {with(func(t *client.TZDBSweep) { t.State = "walking" }), false},
		"no tick yet":                           {with(func(t *client.TZDBSweep) { t.State = "none" }), false},
		"a service that is older than the tick": {with(func(t *client.TZDBSweep) { t.Service = "2025b" }), false},
		"a tick that is older than the service": {with(func(t *client.TZDBSweep) { t.Service = "2026a" }), false},
		"an older tick that goes on": {with(func(t *client.TZDBSweep) {
			t.State, t.NotedAt, t.OlderAt = "waiting", ago(2*time.Hour), ago(time.Minute)
		}), false},
		"a deployment under way": {with(func(t *client.TZDBSweep) {
			t.State, t.NotedAt, t.OlderAt = "waiting", ago(5*time.Minute), ago(time.Minute)
		}), true},
		"a purge this morning":         {purgeCheck(client.PurgeSweep{State: "done", BegunAt: ago(9 * time.Hour)}, noon), true},
		"a purge that no longer comes": {purgeCheck(client.PurgeSweep{State: "done", BegunAt: ago(72 * time.Hour)}, noon), false},
		"a restore that waits":         {restoreCheck(client.Sweeps{RestorePending: true}), false},
	} {
		if c.check.OK != c.ok || c.check.OK != (c.check.Fix == "") {
			t.Errorf("%s: %+v", name, c.check)
		}
	}
}

func TestComparingDatabases(t *testing.T) {
	t.Parallel()
	const zones = "../../pkg/schedule/testdata/zones/"
	from := []string{"--after", "2000-01-01T00:00:00Z", "--days", "5"}
	for name, args := range map[string][]string{
		"an expression whose times move":  {"--tzdb", zones + "before.zip", zones + "after.zip", "--cron", "0 9 * * *", "--zone", "Europe/Berlin"},
		"one as JSON":                     {"--tzdb", zones + "before.zip", zones + "after.zip", "--cron", "0 9 * * 1", "--zone", "Asia/Tokyo", "--json"},
		"an expression that stays":        {"--tzdb", zones + "before.zip", zones + "after.zip", "--cron", "0 9 * * *", "--zone", "America/New_York"},
		"a zone that one of them lacks":   {"--tzdb", zones + "before.zip", zones + "after.zip", "--cron", "0 9 * * *", "--zone", "Pacific/Apia"},
		"a zone that neither of them has": {"--tzdb", zones + "before.zip", zones + "after.zip", "--cron", "0 9 * * *", "--zone", "Mars/Olympus"},
		"an expression that is none":      {"--tzdb", zones + "before.zip", "--cron", "61 9 * * *"},
		"a database that is none":         {"--tzdb", zones + "zones.sh", "--cron", "0 9 * * *"},
		"the same database twice":         {"--cron", "0 9 * * *"},
		"neither an expression nor a job": {"--tzdb", zones + "before.zip"},
	} {
		golden(t, "comparing "+name, belfry(t, "http://127.0.0.1:1", "", append(append([]string{"schedule", "diff"}, args...), from...)...))
	}
	url := service(t)
	put := belfry(t, url, "calendar: office\nzone: Europe/Berlin\nweekly: [{days: mon-fri, from: '09:00', to: '17:00'}]\n---\n"+
		"job: in-the-office\nschedule: {every: 1h, include: [office]}\ntarget: {log: {}}\n---\njob: out-of-office\nschedule: {cron: 30 8 * * *, zone: UTC, exclude: [office]}\ntarget: {log: {}}\n---\n"+
		"job: berlin\nschedule: {cron: \"0 9 * * *\", zone: Europe/Berlin}\ntarget: {log: {}}\n---\njob: often\nschedule: {every: 1h}\ntarget: {log: {}}\n", "apply", "-f", "-")
	if put.code != exitOK {
		t.Fatal(put.err)
	}
	golden(t, "comparing all jobs", belfry(t, url, "", append([]string{"schedule", "diff", "--tzdb", zones + "before.zip", zones + "after.zip", "--all"}, from...)...))
}
