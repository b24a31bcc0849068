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

// Parse reads the jobs of one file. With a file that has faults it returns them
// all as Faults, and no jobs. Faults that show coming times show those after now.
func Parse(file string, data []byte, now time.Time) ([]Entry, error) {
	entries, faults := ParseSound(file, data, now)
	if len(faults) > 0 {
		return nil, faults
	}
	return entries, nil
}

// ParseSound reads a file as Parse does and returns, beside all its faults, the
// jobs that have none.
func ParseSound(file string, data []byte, now time.Time) ([]Entry, Faults) {
	r := &reader{file: file, budget: maxNodes, now: now}
	found := r.read(data)
	entries := make([]Entry, 0, len(found))
	for i := range found {
		if !found[i].sound {
			continue
		}
		before := len(r.faults)
		if r.check(&found[i].Entry); len(r.faults) == before {
			entries = append(entries, found[i].Entry)
		}
	}
	return entries, r.faults
}

// RefuseRepeats refuses names that are given twice in what several files hold
// together; each file's own repeats included.
func RefuseRepeats(entries []Entry) error {
	first := map[string]*Entry{}
	var faults Faults
	for i := range entries {
		e := &entries[i]
		before, known := first[e.Definition.Job]
		if !known {
			first[e.Definition.Job] = e
			continue
		}
		faults = append(faults, Fault{File: e.File, Err: &job.Error{Code: job.CodeInvalid, Field: "job", Value: job.Shorten(e.Definition.Job), Line: e.LineOf("job"),
			Message: fmt.Sprintf("job %q is given twice, first at %s:%d", job.Shorten(e.Definition.Job), before.File, before.LineOf("job")), Fix: "keep one of them, or rename one"}})
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
