package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/cmd/belfry/jobfile"
	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

func (a *app) calendarsCommand() *cobra.Command {
	c := &cobra.Command{Use: "calendars", Short: "Keep holidays and hours that the schedules of jobs name",
		Long: `Keep holidays and hours that the schedules of jobs name, as schedule.exclude or schedule.include.

A calendar that changes does so for no job by itself: each job keeps to what its revision holds, until the calendar is applied
(belfry calendars apply) or the job is put anew.

A file of belfry apply may hold calendars beside the jobs, as belfry calendars get shows them.`,
		Example: "  belfry calendars import berlin.ics --zone Europe/Berlin --name de-holidays\n  belfry calendars put -f de.yaml --dry-run\n  belfry calendars apply de-holidays",
		Args:    noSuchCommand, RunE: showHelp}
	c.AddCommand(a.calendarsList(), a.calendarsGet(), a.calendarsPut(), a.calendarsImport(), a.calendarsApply(), a.calendarsDelete())
	return c
}

func (a *app) calendarsList() *cobra.Command {
	return &cobra.Command{Use: "list", Short: "List calendars", Long: "List calendars by name, with how many days and windows of the week each holds.",
		Example: "  belfry calendars list", Args: upTo(0),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.call(c, func(ctx context.Context, api *client.Client) error {
				all := client.Page[client.Calendar]{Items: []client.Calendar{}}
				for cursor := ""; ; {
					page, err := api.Calendars(ctx, cursor, 0)
					if err != nil {
						return err
					}
					all.Items = append(all.Items, page.Items...)
					if cursor = string(page.NextCursor); cursor == "" {
						break
					}
				}
				return a.print(all, func() {
					var t table
					t.row("CALENDAR", "VERSION", "DAYS", "WINDOWS", "CHANGED")
					for _, one := range all.Items {
						t.row(one.Calendar, strconv.Itoa(one.Version), strconv.Itoa(one.Days), strconv.Itoa(one.Windows), a.when(one.UpdatedAt, a.local))
					}
					t.write(a.out)
				})
			})
		}}
}

func (a *app) calendarsGet() *cobra.Command {
	return &cobra.Command{Use: "get CALENDAR", Short: "Show a calendar and how many jobs keep to it",
		Long:    "Show a calendar as a file that belfry calendars put takes, how many jobs name it, and how many of those hold an older version.",
		Example: "  belfry calendars get de-holidays", Args: exactly("CALENDAR"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.call(c, func(ctx context.Context, api *client.Client) error {
				got, err := api.Calendar(ctx, args[0])
				if err != nil {
					return err
				}
				text, err := yaml.Marshal(got.Content)
				if err != nil {
					return err
				}
				return a.print(got, func() {
					fmt.Fprintf(a.out, "# version %d, changed %s by %s; %s\n%s", got.Version, stamp(got.UpdatedAt.Time, time.UTC), orDash(got.ChangedBy), useText(*got.Use), text)
				})
			})
		}}
}

// useText says who keeps to a calendar.
func useText(u client.CalendarUse) string {
	if u.Jobs == 0 {
		return "no job names it"
	}
	least := ""
	if u.More {
		least = "at least "
	}
	text := fmt.Sprintf("%s%d %s it", least, u.Jobs, plural(u.Jobs, "job names", "jobs name"))
	if u.Behind > 0 {
		text += fmt.Sprintf(", %d %s an older version", u.Behind, plural(u.Behind, "holds", "hold"))
	}
	return text
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// calendarPut are the flags of what writes a calendar.
type calendarPut struct {
	version       int
	dryRun, apply bool
}

func (f *calendarPut) declare(c *cobra.Command) {
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "only say what would happen")
	c.Flags().BoolVar(&f.apply, "apply", false, "apply it to the jobs that name it, too")
	c.Flags().IntVar(&f.version, "if-version", 0, "only if this version is current")
}

func (a *app) calendarsPut() *cobra.Command {
	var file string
	var f calendarPut
	c := &cobra.Command{Use: "put -f FILE", Short: "Make a calendar of a YAML or JSON file, or change it", Args: upTo(0),
		Example: "  belfry calendars put -f de.yaml --dry-run\n  belfry calendars put -f de.yaml --apply"}
	c.Flags().StringVarP(&file, "file", "f", "", "file with one calendar, or - for stdin")
	f.declare(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if file == "" {
			return usage(c, "say what to put with -f FILE")
		}
		shown, data, err := a.readFile(c, file)
		if err != nil {
			return err
		}
		read, err := jobfile.ParseCalendar(shown, data)
		if err != nil {
			return err
		}
		return a.putCalendar(c, read.Content, f)
	}
	return c
}

func (a *app) calendarsImport() *cobra.Command {
	var h holidayFlags
	var f calendarPut
	c := &cobra.Command{Use: "import FILE.ics", Short: "Make a calendar of an iCalendar file of holidays, or change it", Args: exactly("FILE.ics"),
		Example: "  belfry calendars import berlin.ics --zone Europe/Berlin --name de-holidays"}
	h.declare(c)
	f.declare(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		read, err := a.readHolidays(c, args[0], h)
		if err != nil {
			return err
		}
		return a.putCalendar(c, read, f)
	}
	return c
}

func (a *app) putCalendar(c *cobra.Command, content job.Calendar, f calendarPut) error {
	if c.Flags().Changed("if-version") && f.version < 1 {
		return usage(c, "--if-version %d names no version: they count from 1", f.version)
	}
	return a.call(c, func(ctx context.Context, api *client.Client) error {
		result, err := api.PutCalendar(ctx, content, f.version, f.dryRun)
		if err != nil {
			return err
		}
		follows := f.apply && !f.dryRun && result.Use.Behind > 0
		if a.json && follows {
			sum, err := a.applyPages(ctx, api, content.Name)
			if err != nil {
				return err
			}
			return errors.Join(writeJSON(a.out, struct {
				client.CalendarResult
				Applied client.CalendarApplied `json:"applied"`
			}{result, sum}), putOff(content.Name, sum))
		}
		if err := a.print(result, func() { a.showCalendarResult(content.Name, result, !follows) }); err != nil || !follows {
			return err
		}
		return a.applyCalendar(ctx, api, content.Name)
	})
}

func (a *app) showCalendarResult(name string, r client.CalendarResult, hint bool) {
	verb := r.Action
	if r.DryRun && verb != "unchanged" {
		verb = "would be " + verb
	}
	fmt.Fprintf(a.out, "calendar %s %s, version %d; %s\n", name, verb, r.Version, useText(r.Use))
	for _, e := range r.Effects {
		for _, t := range e.Appear {
			fmt.Fprintf(a.out, "  %s  + %s\n", e.Job, stamp(t.Time, time.UTC))
		}
		for _, t := range e.Vanish {
			fmt.Fprintf(a.out, "  %s  - %s\n", e.Job, stamp(t.Time, time.UTC))
		}
	}
	if r.Use.Behind > 0 && !r.DryRun && hint {
		fmt.Fprintf(a.err, "jobs keep to what their revisions hold until: belfry calendars apply %s\n", name)
	}
}

func (a *app) calendarsApply() *cobra.Command {
	return &cobra.Command{Use: "apply CALENDAR", Short: "Give the jobs that name a calendar what it holds now",
		Long:    "Give the jobs that name a calendar what it holds now: each that holds another version gets a new revision.\nAll jobs are looked through, so that none is left out that names the calendar without being known to, as after a restore.\nIt may be interrupted and repeated.",
		Example: "  belfry calendars apply de-holidays", Args: exactly("CALENDAR"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.call(c, func(ctx context.Context, api *client.Client) error { return a.applyCalendar(ctx, api, args[0]) })
		}}
}

// applyCalendar goes on until every job was looked at, and shows what was changed.
func (a *app) applyCalendar(ctx context.Context, api *client.Client, name string) error {
	sum, err := a.applyPages(ctx, api, name)
	if err != nil {
		return err
	}
	if err := a.print(sum, func() {
		found := ""
		if sum.Found > 0 {
			found = fmt.Sprintf("; %d %s it without having been known to", sum.Found, plural(sum.Found, "names", "name"))
		}
		fmt.Fprintf(a.out, "calendar %s: %d %s%s\n", name, sum.Changed, plural(sum.Changed, "job changed", "jobs changed"), found)
	}); err != nil {
		return err
	}
	return putOff(name, sum)
}

func (a *app) applyPages(ctx context.Context, api *client.Client, name string) (sum client.CalendarApplied, err error) {
	for {
		done, err := api.ApplyCalendar(ctx, name, string(sum.NextCursor))
		if err != nil {
			return sum, err
		}
		sum = client.CalendarApplied{Changed: sum.Changed + done.Changed, Found: sum.Found + done.Found, PutOff: sum.PutOff + done.PutOff, NextCursor: done.NextCursor}
		if sum.NextCursor == "" {
			return sum, nil
		}
		fmt.Fprintf(a.err, "changed %d jobs …\n", sum.Changed)
	}
}

// putOff is the conflict of jobs that could not be changed; nil when all were.
func putOff(name string, sum client.CalendarApplied) error {
	if sum.PutOff == 0 {
		return nil
	}
	return &job.Error{Code: job.CodeStateConflict, Field: "calendar", Value: name, Message: fmt.Sprintf("%d jobs could not be changed now and hold an older version", sum.PutOff),
		Fix: "repeat it later, or put those jobs anew"}
}

func (a *app) calendarsDelete() *cobra.Command {
	var version int
	c := &cobra.Command{Use: "delete CALENDAR", Short: "Delete a calendar that no job names",
		Long: "Delete a calendar. While schedules of jobs name it that is refused, with their names.", Example: "  belfry calendars delete de-holidays", Args: exactly("CALENDAR"),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("if-version") && version < 1 {
				return usage(c, "--if-version %d names no version: they count from 1", version)
			}
			return a.call(c, func(ctx context.Context, api *client.Client) error {
				if err := api.DeleteCalendar(ctx, args[0], version); err != nil {
					return err
				}
				return a.print(map[string]string{"deleted": args[0]}, func() { fmt.Fprintf(a.out, "calendar %s deleted\n", args[0]) })
			})
		}}
	c.Flags().IntVar(&version, "if-version", 0, "only if this version is current")
	return c
}
