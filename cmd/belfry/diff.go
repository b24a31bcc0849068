package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// embeddedZones is the word for the database in this program.
const embeddedZones = "embedded"

// mostCompared is how many times of a schedule are compared, under each database.
const mostCompared = 10_000

// diffFlags are the words of a comparison.
type diffFlags struct {
	scheduleFlags
	tzdb, cron string
	all        bool
	days       int
}

// difference is what two databases make of one schedule.
type difference struct {
	Job   client.Text   `json:"job"`
	Cron  string        `json:"cron"`
	Every string        `json:"every,omitempty"` // of an interval, whose calendars' zones move it
	Zone  string        `json:"zone"`
	Gone  []client.Time `json:"gone"`            // times under the first database alone
	Come  []client.Time `json:"come"`            // times under the second alone
	Upto  client.Time   `json:"compared_upto"`   // no further were they compared
	Error string        `json:"error,omitempty"` // one of the two cannot evaluate it
}

// differences is the answer: the schedules whose times move, of all compared.
type differences struct {
	First    string       `json:"first"`
	Second   string       `json:"second"`
	Compared int          `json:"compared"`
	Items    []difference `json:"items"`
}

func (a *app) scheduleDiff() *cobra.Command {
	var f diffFlags
	c := &cobra.Command{Use: "diff --tzdb A B", Short: "Show which times move from one time zone database to another",
		Long: `Show which times move from one time zone database to another: of one cron expression, or with --all of every job of the
service whose times hang on a zone, its own or that of a calendar as it is now. A and B are zoneinfo.zip files, such as those of Go releases (lib/time/zoneinfo.zip), or the word "embedded",
which is the database in this program; B is that, too, when it is left out.`,
		Example: "  belfry schedule diff --tzdb new.zip embedded --cron '30 3 * * *' --zone Europe/Berlin\n  belfry schedule diff --tzdb embedded new.zip --all --json", Args: upTo(1)}
	flags := c.Flags()
	flags.StringVar(&f.tzdb, "tzdb", embeddedZones, "the first database: a zoneinfo.zip, or embedded")
	flags.StringVar(&f.cron, "cron", "", "the cron expression to compare")
	flags.StringVar(&f.zone, "zone", "", "IANA time zone whose wall clock it follows (default UTC)")
	flags.StringVar(&f.dialect, "dialect", "", "grammar of the expression: unix, quartz, aws or cronexpr (default unix for 5 fields)")
	flags.StringVar(&f.gap, "gap", "", "SKIP or SHIFT_FORWARD a wall-clock time that does not exist")
	flags.StringVar(&f.overlap, "overlap", "", "FIRST, SECOND or BOTH of a wall-clock time that exists twice")
	flags.BoolVar(&f.all, "all", false, "compare the jobs of the service in place of an expression")
	flags.StringVar(&f.after, "after", "", "strictly after this RFC 3339 time (default now)")
	flags.IntVar(&f.days, "days", 400, "how many days to compare (1 to 4000)")
	c.RunE = func(c *cobra.Command, args []string) error { return a.diff(c, f, args) }
	return c
}

func (a *app) diff(c *cobra.Command, f diffFlags, args []string) error {
	second := embeddedZones
	if len(args) > 0 {
		second = args[0]
	}
	after, err := a.afterFlag(c, f.after, 1)
	switch {
	case err != nil:
		return err
	case f.all == (f.cron != ""):
		return usage(c, "give exactly one of --cron and --all")
	case f.days < 1 || f.days > 4000:
		return usage(c, "--days %d is out of bounds: choose 1 to 4000", f.days)
	case f.tzdb == second:
		return usage(c, "both databases are %q: name two that differ", job.Shorten(second))
	case after.IsZero():
		after = a.now()
	}
	x := comparison{from: after, to: after.Add(time.Duration(f.days) * 24 * time.Hour), answer: differences{First: nameOf(f.tzdb), Second: nameOf(second), Items: []difference{}}, calendars: map[string]job.PinnedCalendar{}}
	if x.first, err = openZones(f.tzdb); err != nil {
		return err
	}
	if x.second, err = openZones(second); err != nil {
		return err
	}
	if !f.all {
		asked, err := f.schedule(c, []string{f.cron})
		if err != nil {
			return err
		}
		if _, err := schedule.Compile(asked, after); err != nil && (job.CodeOf(err) != job.CodeZoneUnknown || x.unknown(asked)) {
			return err
		}
		x.compare("", asked, after, nil)
		return a.print(x.answer, func() { a.showDifferences(x.answer) })
	}
	return a.call(c, func(ctx context.Context, api *client.Client) error {
		for j, err := range client.Every("", func(cursor string) (client.Page[client.Job], error) { return api.Jobs(ctx, cursor, 0) }) {
			if err != nil {
				return err
			}
			if err := x.compareJob(ctx, api, j); err != nil {
				return err
			}
		}
		return a.print(x.answer, func() { a.showDifferences(x.answer) })
	})
}

// comparison is two databases and what they make of schedules.
type comparison struct {
	first, second *schedule.Zones
	from, to      time.Time
	calendars     map[string]job.PinnedCalendar // of the service, as far as they were read
	answer        differences
}

// unknown reports whether neither database has the schedule's zone.
func (x *comparison) unknown(s job.Schedule) bool {
	_, first := x.first.Compile(s, x.from)
	_, second := x.second.Compile(s, x.from)
	return job.CodeOf(first) == job.CodeZoneUnknown && job.CodeOf(second) == job.CodeZoneUnknown
}

// compareJob compares a job of the service, if its times hang on a zone.
func (x *comparison) compareJob(ctx context.Context, api *client.Client, j client.Job) error {
	var pinned []job.PinnedCalendar
	for _, name := range j.Schedule.Calendars() {
		one, known := x.calendars[name]
		if !known {
			read, err := api.Calendar(ctx, name)
			if err != nil {
				return err
			}
			one = job.PinnedCalendar{Calendar: *read.Content, Version: read.Version}
			x.calendars[name] = one
		}
		pinned = append(pinned, one)
	}
	if j.Schedule.Cron != "" || len(pinned) > 0 {
		x.compare(j.Job, j.Schedule, inPhase(j, x.from), pinned)
	}
	return nil
}

// inPhase is a moment up to from at which an interval of the job could be due.
func inPhase(j client.Job, from time.Time) time.Time {
	every, next := j.Schedule.Every.Std(), j.NextFireAt.Time
	if every <= 0 || next.IsZero() {
		return from
	}
	anchor := next.Add(-next.Sub(from).Truncate(every))
	for anchor.After(from) {
		anchor = anchor.Add(-every)
	}
	return anchor
}

func (x *comparison) compare(of string, s job.Schedule, anchor time.Time, pinned []job.PinnedCalendar) {
	x.answer.Compared++
	d := difference{Job: client.Text(of), Cron: s.Cron, Zone: s.Zone, Gone: []client.Time{}, Come: []client.Time{}}
	if s.Every > 0 {
		d.Every = s.Every.String()
	}
	if d.Zone == "" {
		d.Zone = job.DefaultZone
	}
	first, err := x.first.CompileUnder(s, anchor, pinned)
	if err != nil {
		d.Error = x.answer.First + ": " + err.Error()
		x.answer.Items = append(x.answer.Items, d)
		return
	}
	second, err := x.second.CompileUnder(s, anchor, pinned)
	if err != nil {
		d.Error = x.answer.Second + ": " + err.Error()
		x.answer.Items = append(x.answer.Items, d)
		return
	}
	gone, come, upto := schedule.Moved(first, second, x.from, x.to, mostCompared)
	if len(gone) == 0 && len(come) == 0 {
		return
	}
	d.Upto = client.At(upto)
	for _, at := range gone {
		d.Gone = append(d.Gone, client.At(at))
	}
	for _, at := range come {
		d.Come = append(d.Come, client.At(at))
	}
	x.answer.Items = append(x.answer.Items, d)
}

// openZones opens what names a database.
func openZones(name string) (*schedule.Zones, error) {
	if name == embeddedZones {
		return nil, nil //nolint:nilnil // no database is the embedded one
	}
	archive, err := os.ReadFile(name)
	if err != nil {
		return nil, &job.Error{Code: job.CodeInvalid, Field: "tzdb", Value: job.Shorten(name), Message: err.Error(), Fix: "name a zoneinfo.zip, or the word embedded"}
	}
	return schedule.OpenZones(filepath.Base(name), archive)
}

// what is the schedule in a few words; the zone of an interval is that of its calendars.
func (d *difference) what() string {
	if d.Every != "" {
		return "every " + d.Every
	}
	return d.Cron + " (" + d.Zone + ")"
}

func nameOf(database string) string {
	if database == embeddedZones {
		return schedule.TZDBVersion()
	}
	return filepath.Base(database)
}

func (a *app) showDifferences(all differences) {
	const shown = 3
	times := func(list []client.Time) string {
		var texts []string
		for _, at := range list[:min(shown, len(list))] {
			texts = append(texts, stamp(at.Time, time.UTC))
		}
		if len(list) > shown {
			texts = append(texts, fmt.Sprintf("and %d more", len(list)-shown))
		}
		if len(texts) == 0 {
			return "none"
		}
		return strings.Join(texts, ", ")
	}
	for _, d := range all.Items {
		fmt.Fprintf(a.out, "%s\n", strings.TrimSpace(safe(string(d.Job))+" "+safe(d.what())))
		if d.Error != "" {
			fmt.Fprintf(a.out, "  %s\n", safe(d.Error))
			continue
		}
		fmt.Fprintf(a.out, "  only %s: %s\n  only %s: %s\n", safe(all.First), times(d.Gone), safe(all.Second), times(d.Come))
	}
	failed := 0
	for _, d := range all.Items {
		if d.Error != "" {
			failed++
		}
	}
	fmt.Fprintf(a.out, "the times of %d of %d schedules move from %s to %s\n", len(all.Items)-failed, all.Compared, safe(all.First), safe(all.Second))
	if failed > 0 {
		fmt.Fprintf(a.out, "%d could not be compared\n", failed)
	}
}
