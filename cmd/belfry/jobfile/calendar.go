package jobfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// Calendar is one calendar of a file.
type Calendar struct {
	Content job.Calendar
	File    string
	Line    int            // where it begins
	lines   map[string]int // path of a key or of an item → its line
}

// LineOf is the line of the key or item that a refusal names, or of the nearest one
// around it; at worst the line where the calendar begins.
func (c *Calendar) LineOf(field string) int {
	for path := field; path != ""; path = path[:max(strings.LastIndexAny(path, ".["), 0)] {
		if line, known := c.lines[path]; known {
			return line
		}
	}
	return c.Line
}

// ParseCalendar reads a file that holds one calendar and nothing else.
func ParseCalendar(file string, data []byte) (Calendar, error) {
	r := &reader{file: file, budget: maxNodes, only: "calendar"}
	found := r.read(data)
	for i := range found {
		if found[i].sound {
			r.checkCalendar(found[i].calendar)
		}
	}
	if len(r.faults) > 0 {
		return Calendar{}, r.faults
	}
	if len(found) != 1 {
		r.refuseAt(1, &job.Error{Code: job.CodeInvalid, Field: "calendar", Value: fmt.Sprint(len(found)), Bound: "one calendar",
			Message: fmt.Sprintf("the file holds %d calendars, and one is expected", len(found)), Fix: "give a file with one, or hand all of them to belfry apply"})
		return Calendar{}, r.faults
	}
	return *found[0].calendar, nil
}

func holds(pairs []pair, key string) bool {
	return slices.ContainsFunc(pairs, func(p pair) bool { return p.key == key })
}

// isCalendar tells a calendar by its name, or by what only a calendar has.
func isCalendar(pairs []pair) bool {
	if holds(pairs, "job") {
		return false
	}
	return slices.ContainsFunc([]string{"calendar", "dates", "yearly", "weekly"}, func(key string) bool { return holds(pairs, key) })
}

// misplacedCalendar refuses the key in a job.
func (r *reader) misplacedCalendar(path string, n ast.Node) {
	r.refuse(n, &job.Error{Code: job.CodeInvalid, Field: path, Value: scalarText(n), Bound: "job or calendar", Message: "this names both a job and a calendar",
		Fix: "name the calendar in schedule.exclude or schedule.include of the job, and write it as a document of its own"})
}

func (r *reader) calendar(c *job.Calendar) keys {
	return keys{"calendar": text(r, &c.Name), "zone": text(r, &c.Zone), "dates": r.list(&c.Dates), "yearly": r.list(&c.Yearly), "weekly": r.windows(&c.Weekly)}
}

func (r *reader) windows(into *[]job.Window) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		r.scalar(n, func(v ast.Node) {
			items, isList := v.(*ast.SequenceNode)
			if !isList {
				r.wrong(path, v, "a list", `write it as [{days: mon-fri, from: "09:00", to: "17:00"}]`)
				return
			}
			for i, item := range items.Values {
				var w job.Window
				at := fmt.Sprintf("%s[%d]", path, i)
				r.lines[at] = lineOf(firstKey(item))
				r.mapping(at, item, keys{"days": text(r, &w.Days), "from": text(r, &w.From), "to": text(r, &w.To)})
				*into = append(*into, w)
			}
		})
	}
}

// checkCalendar holds a calendar of sound form against the service's own rules, each
// day and each window alone, so that all that is wrong is told, and where.
func (r *reader) checkCalendar(c *Calendar) {
	before := len(r.faults)
	whole := c.Content
	if len(whole.Dates)+len(whole.Yearly) > job.MaxDates || len(whole.Weekly) > job.MaxWindows {
		r.judge(c, "", whole) // that alone, not thousands of days
		return
	}
	r.judge(c, "", job.Calendar{Name: whole.Name, Zone: whole.Zone})
	for i, day := range whole.Dates {
		r.judge(c, fmt.Sprintf("dates[%d]", i), job.Calendar{Name: "a", Dates: []string{day}})
	}
	for i, day := range whole.Yearly {
		r.judge(c, fmt.Sprintf("yearly[%d]", i), job.Calendar{Name: "a", Yearly: []string{day}})
	}
	for i, window := range whole.Weekly {
		r.judge(c, fmt.Sprintf("weekly[%d]", i), job.Calendar{Name: "a", Weekly: []job.Window{window}})
	}
	if len(r.faults) == before {
		r.judge(c, "", whole)
	}
}

// judge refuses a part of a calendar; at is where it stands, empty for the calendar's
// own keys.
func (r *reader) judge(c *Calendar, at string, part job.Calendar) {
	_, err := schedule.CompileCalendar(part)
	if err == nil {
		return
	}
	refusal := asJobError(err)
	switch {
	case len(part.Weekly) == 1 && at != "":
		field := refusal.Field
		if field != "from" && field != "to" {
			field = "days" // the words of a cron expression's day-of-week
		}
		refusal.Field = at + "." + field
	case at != "":
		refusal.Field = at
	}
	r.refuseAt(c.LineOf(refusal.Field), refusal)
}
