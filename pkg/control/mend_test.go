package control_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// lose takes one item of the control table away, as a restore of that table would.
func (d *desk) lose(partition, sort string) {
	d.Helper()
	out, err := d.db.DeleteItem(d.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(d.belfry.Store.Tables().Control), ReturnValues: types.ReturnValueAllOld,
		Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: partition}, "sk": &types.AttributeValueMemberS{Value: sort}}})
	d.must(err)
	if len(out.Attributes) == 0 {
		d.Fatalf("there is no %s %s to lose", partition, sort)
	}
}

func (d *desk) calendar(dates ...string) {
	d.Helper()
	_, err := d.PutCalendar(d.Context(), control.CalendarRequest{Tenant: job.DefaultTenant, Calendar: job.Calendar{Name: "de", Dates: dates}, Actor: "ada"})
	d.must(err)
}

func (d *desk) use() control.CalendarUse {
	d.Helper()
	_, use, err := d.GetCalendar(d.Context(), job.DefaultTenant, "de")
	d.must(err)
	return use
}

// applyAll applies the calendar page by page.
func (d *desk) applyAll() (sum control.Applied) {
	d.Helper()
	for cursor := ""; ; {
		a, err := d.ApplyCalendar(d.Context(), job.DefaultTenant, "de", "ada", cursor)
		d.must(err)
		sum.Changed, sum.Found, sum.PutOff = sum.Changed+a.Changed, sum.Found+a.Found, sum.PutOff+a.PutOff
		if cursor = a.Next; cursor == "" {
			return sum
		}
	}
}

func excluding() job.Definition {
	d := daily()
	d.Schedule.Exclude = []string{"de"}
	return d
}

func TestACalendarComesToKnowAJobThatItLost(t *testing.T) {
	again := func(d *desk) { d.put(excluding()) }
	apply := func(d *desk) { d.applyAll() }
	for says, row := range map[string]struct {
		before, act func(d *desk) // before the loss, after it
		want        control.CalendarUse
		revision    int
	}{
		"by a put of the job as it is":               {nil, again, control.CalendarUse{Jobs: 1}, 1},
		"by an apply of the calendar as it is":       {nil, apply, control.CalendarUse{Jobs: 1}, 1},
		"by an apply of the calendar after a change": {nil, func(d *desk) { d.calendar("2000-02-02"); apply(d) }, control.CalendarUse{Jobs: 1}, 2},
		"by a put after a change":                    {nil, func(d *desk) { d.calendar("2000-02-02"); again(d) }, control.CalendarUse{Jobs: 1}, 2},
		"also one that is paused":                    {func(d *desk) { _, err := d.Pause(d.Context(), d.ref, "ada"); d.must(err) }, apply, control.CalendarUse{Jobs: 1}, 1},
		"not by a dry run, which writes nothing": {nil, func(d *desk) {
			r := d.request(excluding())
			r.DryRun = true
			_, err := d.Put(d.Context(), r)
			d.must(err)
		}, control.CalendarUse{}, 1},
		"not one whose definition names it no longer": {nil, func(d *desk) { d.put(daily()); apply(d) }, control.CalendarUse{}, 2},
		"one whose definition that waits names it": {func(d *desk) {
			d.put(daily())
			r := d.request(excluding())
			r.EffectiveAt = time.Now().Add(time.Hour)
			_, err := d.Put(d.Context(), r)
			d.must(err)
		}, apply, control.CalendarUse{Jobs: 1}, 3},
	} {
		t.Run(says, func(t *testing.T) {
			atDesk(t, func(d *desk) {
				d.calendar("2000-01-01")
				d.put(excluding())
				if row.before != nil {
					row.before(d)
				}
				d.lose("CALUSE#default/de", "nightly")
				if use := d.use(); use.Jobs != 0 {
					t.Fatalf("nothing was lost: %+v", use)
				}
				row.act(d)
				if use, head := d.use(), d.head(); use != row.want || head.Revision != row.revision {
					t.Errorf("used by %+v, at revision %d, want %+v, %d", use, head.Revision, row.want, row.revision)
				}
			})
		})
	}
}

func TestAnApplyTellsWhomItFoundOnce(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.calendar("2000-01-01")
		for _, name := range []string{"a", "b", "c"} {
			d.ref.Job = name
			d.put(excluding())
		}
		d.lose("CALUSE#default/de", "b")
		d.calendar("2000-01-02")
		if got := d.applyAll(); got != (control.Applied{Changed: 3, Found: 1}) {
			t.Errorf("the first did %+v", got)
		}
		d.written()
		if got := d.applyAll(); got != (control.Applied{}) || len(d.written()) > 0 {
			t.Errorf("the second did %+v", got)
		}
	})
}

// The calendar itself is lost too, and made anew: none of its versions may come to
// name other content than the one that a job pinned.
func TestACalendarThatWasLostReachesItsJobsAgain(t *testing.T) {
	for says, row := range map[string]struct {
		lose    func(d *desk)
		version int
	}{
		"its versions go on from what its jobs pinned":                                      {func(*desk) {}, 3},
		"they begin again when nobody is known to keep to it, and the search finds the job": {func(d *desk) { d.lose("CALUSE#default/de", "nightly") }, 1},
	} {
		t.Run(says, func(t *testing.T) {
			atDesk(t, func(d *desk) {
				d.calendar("2000-01-01")
				d.calendar("2000-01-02")
				d.put(excluding())
				d.lose("CAL#default", "de")
				row.lose(d)
				d.calendar("2000-01-03")
				if got := d.applyAll(); got.Changed != 1 {
					t.Errorf("the apply did %+v", got)
				}
				rev, err := d.belfry.Store.Revision(d.Context(), d.ref, d.head().Revision)
				d.must(err)
				if pinned := rev.Calendars[0]; pinned.Version != row.version || pinned.Dates[0] != "2000-01-03" || d.use() != (control.CalendarUse{Jobs: 1}) {
					t.Errorf("the job keeps to %+v; used by %+v", pinned, d.use())
				}
			})
		})
	}
}

// The current revision holds what the calendar was; the definition that waits, what it is.
func TestAJobIsAsFarBehindAsTheOlderOfItsDefinitions(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.calendar("2000-01-01")
		d.put(excluding())
		d.calendar("2000-01-02")
		r := d.request(excluding())
		r.Definition.Description, r.EffectiveAt = "from tomorrow on", time.Now().Add(24*time.Hour)
		_, err := d.Put(d.Context(), r)
		d.must(err)
		d.lose("CALUSE#default/de", "nightly")
		if got := d.applyAll(); got != (control.Applied{Changed: 1, Found: 1}) {
			t.Errorf("the apply did %+v", got)
		}
		rev, err := d.belfry.Store.Revision(d.Context(), d.ref, d.head().Revision)
		d.must(err)
		if rev.Calendars[0].Version != 2 {
			t.Errorf("the revision that holds until tomorrow keeps to %+v", rev.Calendars)
		}
	})
}
