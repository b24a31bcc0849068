package main

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/cmd/belfry/jobfile"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
	"github.com/belfry-scheduler/belfry/pkg/schedule/holidays"
)

// calendarFlags name the calendars that a schedule keeps to.
type calendarFlags struct {
	exclude, include []string
	onExcluded       string
}

func (f *calendarFlags) declare(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVar(&f.exclude, "exclude", nil, "calendar file whose times are left out: YAML, JSON or .ics (repeatable)")
	flags.StringArrayVar(&f.include, "include", nil, "calendar file to whose times it keeps (repeatable)")
	flags.StringVar(&f.onExcluded, "on-excluded", "", "SKIP, NEXT_BUSINESS_DAY or PREVIOUS_BUSINESS_DAY (default SKIP)")
}

// under is the plan under the calendars that the flags name.
func (a *app) under(c *cobra.Command, plan *schedule.Plan, f calendarFlags) (*schedule.Plan, error) {
	if len(f.exclude)+len(f.include) == 0 {
		if f.onExcluded != "" {
			return nil, usage(c, "--on-excluded says nothing without --exclude or --include")
		}
		return plan, nil
	}
	if given := len(f.exclude) + len(f.include); given > job.MaxCalendars {
		return nil, usage(c, "--exclude and --include name %d calendars: choose %d at most", given, job.MaxCalendars)
	}
	rules := schedule.Rules{OnExcluded: schedule.OnExcluded(f.onExcluded)}
	for _, list := range []struct {
		paths []string
		to    *[]*schedule.Hours
	}{{f.exclude, &rules.Exclude}, {f.include, &rules.Include}} {
		for _, path := range list.paths {
			hours, err := a.readCalendar(c, path, plan.Location().String())
			if err != nil {
				return nil, err
			}
			*list.to = append(*list.to, hours)
		}
	}
	return plan.Under(rules)
}

// readCalendar reads a calendar file. Holidays in an .ics file are those of the
// given zone, and named as the file is.
func (a *app) readCalendar(c *cobra.Command, path, zone string) (*schedule.Hours, error) {
	shown, data, err := a.readFile(c, path)
	if err != nil {
		return nil, err
	}
	if !isICalendar(path) {
		read, err := jobfile.ParseCalendar(shown, data)
		if err != nil {
			return nil, err
		}
		return schedule.CompileCalendar(read.Content)
	}
	read, err := holidays.Parse(calendarName(path), zone, data)
	if err != nil {
		return nil, inFile(shown, err)
	}
	hours, err := schedule.CompileCalendar(read)
	return hours, inFile(shown, err)
}

func isICalendar(path string) bool { return strings.EqualFold(filepath.Ext(path), ".ics") }

// calendarName makes a name out of a file's.
func calendarName(path string) string {
	base := strings.ToLower(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_' {
			return r
		}
		return '-'
	}, base)
	name = strings.TrimLeft(name, "-._")
	if name == "" {
		return "holidays"
	}
	return name[:min(len(name), 63)]
}

// inFile says in which file a refusal is.
func inFile(shown string, err error) error {
	var refusal *job.Error
	if errors.As(err, &refusal) {
		refusal.Field = shown + ": " + refusal.Field
	}
	return err
}

func (a *app) scheduleHolidays() *cobra.Command {
	var f holidayFlags
	c := &cobra.Command{Use: "holidays FILE.ics", Short: "Turn an iCalendar file of holidays into a calendar",
		Long: `Turn an iCalendar file of holidays into a calendar, and print it: the days of its
whole-day events, once or every year. What it does not understand refuses the file.

A calendar is a YAML or JSON document, which may be written by hand:

  calendar: de
  zone: Europe/Berlin
  dates: ["2026-04-03"]
  yearly: ["12-25", "12-26"]
  weekly: [{days: "sat,sun"}, {days: "mon-fri", from: "22:00", to: "06:00"}]`,
		Example: "  belfry schedule holidays berlin.ics --zone Europe/Berlin > de.yaml\n  belfry schedule next '0 6 1 * *' --zone Europe/Berlin --exclude de.yaml --on-excluded NEXT_BUSINESS_DAY", Args: exactly("FILE.ics")}
	f.declare(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		calendar, err := a.readHolidays(c, args[0], f)
		if err != nil {
			return err
		}
		text, err := yaml.Marshal(calendar)
		if err != nil {
			return err
		}
		return a.print(calendar, func() { _, _ = a.out.Write(text) })
	}
	return c
}

// holidayFlags say what calendar an iCalendar file becomes.
type holidayFlags struct{ name, zone string }

func (f *holidayFlags) declare(c *cobra.Command) {
	c.Flags().StringVar(&f.name, "name", "", "name of the calendar (default as the file)")
	c.Flags().StringVar(&f.zone, "zone", "UTC", "IANA time zone whose days they are")
}

// readHolidays makes a calendar of an iCalendar file.
func (a *app) readHolidays(c *cobra.Command, file string, f holidayFlags) (job.Calendar, error) {
	shown, data, err := a.readFile(c, file)
	if err != nil {
		return job.Calendar{}, err
	}
	if f.name == "" {
		f.name = calendarName(file)
	}
	calendar, err := holidays.Parse(f.name, f.zone, data)
	if err != nil {
		return job.Calendar{}, inFile(shown, err)
	}
	return calendar, nil
}
