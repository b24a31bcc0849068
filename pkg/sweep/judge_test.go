package sweep

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// later is the database in which Berlin's clock runs an hour further ahead, so that
// its times come an hour earlier, and Tokyo's an hour less.
func later(t *testing.T) *schedule.Zones {
	t.Helper()
	archive, err := os.ReadFile(filepath.Join("..", "schedule", "testdata", "zones", "after.zip"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := schedule.OpenZones("2000a", archive)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// at is a moment of the third of January 2000, or of the day after with a +.
func at(t *testing.T, clock string) time.Time {
	t.Helper()
	if clock == "" {
		return time.Time{}
	}
	day := "2000-01-03 "
	switch clock[0] {
	case '+':
		day, clock = "2000-01-04 ", clock[1:]
	case '-':
		day, clock = "2000-01-02 ", clock[1:]
	}
	parsed, err := time.Parse("2006-01-02 15:04:05", day+clock)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// A row is a job under the earlier database: daily at nine, unless it says
// otherwise, which is 08:00 UTC in Berlin and 00:00 in Tokyo; times are UTC.
type row struct {
	cron, zone string
	now        string
	cursor     string
	last       string   // last time that had come
	ahead      []string // made, and not come
	verb       string   // last verb; empty = two days before
	switchAt   string   // a definition that waits takes over
	switched   string   // one took over

	moved    bool
	to       string
	carry    string
	withdraw []string
}

var rows = map[string]row{
	"a time that moves an hour earlier fires then":                         {now: "05:00:00", cursor: "08:00:00", last: "-08:00:00", moved: true, to: "07:00:00", carry: "05:00:00"},
	"one that moves into the past is late":                                 {now: "07:30:00", cursor: "08:00:00", last: "-08:00:00", moved: true, to: "07:00:00", carry: "07:30:00"},
	"what came today does not come again an hour later":                    {zone: "Asia/Tokyo", now: "00:30:00", cursor: "+00:00:00", last: "00:00:00", moved: true, to: "+01:00:00", carry: "00:30:00"},
	"one that moves an hour later fires then":                              {zone: "Asia/Tokyo", now: "-23:00:00", cursor: "00:00:00", last: "-00:00:00", moved: true, to: "01:00:00", carry: "-23:00:00"},
	"a zone that is the same moves nothing":                                {zone: "America/New_York", now: "05:00:00", cursor: "14:00:00", last: "-14:00:00", to: "14:00:00", carry: "05:00:00"},
	"one made ahead whose time is gone is withdrawn, and comes later":      {zone: "Asia/Tokyo", now: "-23:57:00", cursor: "+00:00:00", last: "-00:00:00", ahead: []string{"00:00:00"}, moved: true, to: "01:00:00", carry: "-23:57:00", withdraw: []string{"00:00:00"}},
	"one made ahead whose time was an hour ago is withdrawn, and late":     {now: "07:57:00", cursor: "+08:00:00", last: "-08:00:00", ahead: []string{"08:00:00"}, moved: true, to: "07:00:00", carry: "07:57:00", withdraw: []string{"08:00:00"}},
	"one made ahead that stays keeps its execution":                        {zone: "America/New_York", now: "13:57:00", cursor: "+14:00:00", last: "-14:00:00", ahead: []string{"14:00:00"}, to: "14:00:00", carry: "13:57:00"},
	"each minute of an hour stays while the hour lasts, and is made again": {cron: "* 8-9 * * *", now: "07:57:30", cursor: "08:00:00", last: "07:57:00", ahead: []string{"07:58:00", "07:59:00"}, moved: true, to: "07:58:00", carry: "07:57:30"},
	"an hour earlier, of a job that runs all day, is the same times":       {cron: "*/5 * * * *", now: "07:57:30", cursor: "08:05:00", last: "07:55:00", ahead: []string{"08:00:00"}, to: "08:00:00", carry: "07:57:30"},
	"a job that was never due goes on from its last verb":                  {now: "07:30:00", cursor: "08:00:00", verb: "07:20:00", moved: true, to: "+07:00:00", carry: "07:30:00"},
	"a cursor that the verb set back, to catch up, is left where it is":    {cron: "0 * * * *", now: "07:30:00", cursor: "03:00:00", last: "02:00:00", verb: "07:20:00", to: "03:00:00", carry: "02:59:59"},
	"an overdue time that moves keeps nothing of the old life behind it":   {now: "08:10:00", cursor: "08:00:00", last: "-08:00:00", moved: true, to: "07:00:00", carry: "07:59:59"},
	"a time long after the last one is not the last one moved":             {cron: "0 9 * * 1", now: "05:00:00", cursor: "08:00:00", last: "", verb: "-00:00:00", moved: true, to: "07:00:00", carry: "05:00:00"},
	"where a definition waits, its moment is the end":                      {now: "05:00:00", cursor: "08:00:00", last: "-08:00:00", switchAt: "06:30:00", moved: true, to: "06:30:01", carry: "05:00:00"},
	"the moment of a definition that waits does not move":                  {now: "05:00:00", cursor: "06:30:01", last: "-08:00:00", switchAt: "06:30:00", to: "06:30:01", carry: "05:00:00"},
	"times before a switch-over were those of the definition before":       {now: "07:20:00", cursor: "08:00:00", last: "06:00:00", switched: "07:10:00", moved: true, to: "+07:00:00", carry: "07:20:00"},
	"what came before an edit is no time of the schedule":                  {now: "05:20:00", cursor: "08:00:00", last: "05:00:00", verb: "05:10:00", moved: true, to: "07:00:00", carry: "05:20:00"},
	"hourly office hours that begin an hour earlier lose none":             {cron: "0 9-17 * * *", now: "05:00:00", cursor: "08:00:00", last: "-16:00:00", moved: true, to: "07:00:00", carry: "05:00:00"},
	"the last one made ahead of a job that is over then is withdrawn too":  {now: "07:57:00", cursor: "", last: "-08:00:00", ahead: []string{"08:00:00"}, moved: true, to: "07:00:00", carry: "07:57:00", withdraw: []string{"08:00:00"}},
}

func TestWhereTheNextTimeOfAJobGoesWithANewerDatabase(t *testing.T) {
	zones := later(t)
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			f := r.facts(t, zones)
			got := judge(f)
			if got.moved != r.moved || !got.cursor.Equal(at(t, r.to)) || !got.carry.Equal(at(t, r.carry)) {
				t.Errorf("moved %t to %s, carries %s; want %t, %s, %s", got.moved, got.cursor, got.carry, r.moved, at(t, r.to), at(t, r.carry))
			}
			if !got.last.Equal(at(t, r.last)) {
				t.Errorf("dealt with up to %s, want %s", got.last, at(t, r.last))
			}
			var withdrawn, want []time.Time
			for _, e := range got.withdraw {
				withdrawn = append(withdrawn, e.ScheduledAt)
			}
			for _, clock := range r.withdraw {
				want = append(want, at(t, clock))
			}
			if !slices.Equal(withdrawn, want) {
				t.Errorf("withdrawn %v, want %v", withdrawn, want)
			}
		})
	}
}

func (r row) facts(t *testing.T, zones *schedule.Zones) facts {
	t.Helper()
	if r.cron == "" {
		r.cron = "0 9 * * *"
	}
	if r.zone == "" {
		r.zone = "Europe/Berlin"
	}
	head := &job.Head{State: job.Enabled, Schedule: job.Schedule{Cron: r.cron, Zone: r.zone}, NextFireAt: at(t, r.cursor), UpdatedAt: at(t, r.verb)}
	if r.verb == "" {
		head.UpdatedAt = at(t, "-00:00:00").Add(-time.Hour) // before all times that had come
	}
	head.SwitchAt, head.SwitchedAt = at(t, r.switchAt), at(t, r.switched)
	plan, err := zones.Compile(head.Schedule, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if r.switchAt != "" {
		plan = plan.Upto(head.SwitchAt)
	}
	f := facts{head: head, plan: plan, now: at(t, r.now), last: at(t, r.last)}
	for _, clock := range r.ahead {
		f.ahead = append(f.ahead, job.Execution{Key: job.ScheduledKey(at(t, clock)), Status: job.Scheduled})
	}
	return f
}
