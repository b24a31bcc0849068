package jobfile

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Bounds of a file.
const (
	MaxFile  = 1 << 20 // bytes
	maxNodes = 200_000 // values read, those that aliases repeat counted each time
	maxDepth = 64      // levels of nesting
)

// Entry is one job of a file.
type Entry struct {
	Definition job.Definition // as written, without defaults
	File       string
	Line       int            // where it begins
	lines      map[string]int // path of a key → its line
}

// LineOf is the line of the key that a refusal names, or of the nearest key
// around it; at worst the line where the job begins. Refusals of a schedule name
// keys and cron fields without "schedule." in front.
func (e *Entry) LineOf(field string) int {
	for _, path := range []string{field, "schedule." + field} {
		for path != "" && path != "schedule" {
			if line, known := e.lines[path]; known {
				return line
			}
			cut := strings.LastIndexByte(path, '.')
			path = path[:max(cut, 0)]
		}
	}
	for _, path := range []string{"schedule.cron", "schedule"} {
		if line, known := e.lines[path]; known && isCronField(field) {
			return line
		}
	}
	if line, known := e.lines[field]; known {
		return line
	}
	return e.Line
}

func isCronField(field string) bool {
	switch field {
	case "second", "minute", "hour", "day-of-month", "month", "day-of-week", "year", "cron", "dialect":
		return true
	}
	return false
}

// Fault is one thing that is wrong with a file.
type Fault struct {
	File string
	Err  *job.Error // its Line is set
}

// Error renders "file:line: what is wrong".
func (f Fault) Error() string {
	located := *f.Err
	located.Line = 0
	return fmt.Sprintf("%s:%d: %s", f.File, f.Err.Line, located.Error())
}

// Faults is everything that is wrong with one or several files, in their order.
type Faults []Fault

// Error renders one line for each fault.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.Error()
	}
	return strings.Join(lines, "\n")
}

// Contents is what one file holds, or several.
type Contents struct {
	Jobs      []Entry
	Calendars []Calendar
	// Doubtful names the calendars that are given and have faults: a job that names
	// one cannot be judged.
	Doubtful []string
}

// Add puts what another file holds behind.
func (c *Contents) Add(more Contents) {
	c.Jobs, c.Calendars, c.Doubtful = append(c.Jobs, more.Jobs...), append(c.Calendars, more.Calendars...), append(c.Doubtful, more.Doubtful...)
}

// Parse reads the jobs and calendars of one file. With a file that has faults it
// returns them all as Faults, and nothing else. Faults that show coming times show
// those after now.
func Parse(file string, data []byte, now time.Time) (Contents, error) {
	contents, faults := ParseSound(file, data, now)
	if len(faults) > 0 {
		return Contents{}, faults
	}
	return contents, nil
}

// ParseSound reads a file as Parse does and returns, beside all its faults, the
// jobs and calendars that have none.
func ParseSound(file string, data []byte, now time.Time) (Contents, Faults) {
	r := &reader{file: file, budget: maxNodes, now: now}
	var contents Contents
	for _, found := range r.read(data) {
		before := len(r.faults)
		switch {
		case found.calendar != nil && found.sound:
			if r.checkCalendar(found.calendar); len(r.faults) == before {
				contents.Calendars = append(contents.Calendars, *found.calendar)
				continue
			}
			fallthrough
		case found.calendar != nil:
			contents.Doubtful = append(contents.Doubtful, found.calendar.Content.Name)
		case found.sound:
			if r.check(&found.Entry); len(r.faults) == before {
				contents.Jobs = append(contents.Jobs, found.Entry)
			}
		}
	}
	return contents, r.faults
}

// RefuseRepeats refuses names that are given twice in what several files hold
// together; each file's own repeats included. A job and a calendar may share one.
func RefuseRepeats(c Contents) error {
	type named struct {
		kind, name, file string
		line             int
	}
	var all []named
	for i := range c.Calendars {
		one := &c.Calendars[i]
		all = append(all, named{"calendar", one.Content.Name, one.File, one.LineOf("calendar")})
	}
	for i := range c.Jobs {
		one := &c.Jobs[i]
		all = append(all, named{"job", one.Definition.Job, one.File, one.LineOf("job")})
	}
	first := map[[2]string]named{}
	var faults Faults
	for _, n := range all {
		before, known := first[[2]string{n.kind, n.name}]
		if !known {
			first[[2]string{n.kind, n.name}] = n
			continue
		}
		faults = append(faults, Fault{File: n.file, Err: &job.Error{Code: job.CodeInvalid, Field: n.kind, Value: job.Shorten(n.name), Line: n.line,
			Message: fmt.Sprintf("%s %q is given twice, first at %s:%d", n.kind, job.Shorten(n.name), before.file, before.line), Fix: "keep one of them, or rename one"}})
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}

// asJobError is err as a refusal; what is none becomes one.
func asJobError(err error) *job.Error {
	var known *job.Error
	if errors.As(err, &known) {
		copied := *known
		return &copied
	}
	return &job.Error{Code: job.CodeInvalid, Message: err.Error()}
}
