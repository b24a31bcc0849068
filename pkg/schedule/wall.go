package schedule

import (
	"fmt"
	"sync"
	"time"

	"github.com/gorhill/cronexpr"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// wall is the field engine behind a wall. It speaks of wall-clock seconds: the
// seconds since 1970-01-01 00:00 on a clock that never jumps. What the engine
// has no words for, days counted back from the month's last, is decided in
// monthdays.go. Known faults of the engine, and what keeps them out:
//
//   - it panics on inverted ranges, misreads 7 as a range's end, ignores what
//     it does not understand: only normalText reaches it;
//   - it never comes back from a gap in a zone and loses a repeated hour: it
//     is given UTC only;
//   - Next writes into the expression: each call works on a copy;
//   - impossible dates and the end of its years give the zero time: that is
//     "none", as is any answer that is not later than the question;
//   - a panic that is left becomes "none", and Compile refuses what has none.
type wall struct {
	times    cronexpr.Expression         // every matching second
	midnight func() *cronexpr.Expression // the first second of each matching day; made when first asked for
	fields   fields
	chooses  bool // the days are chosen here, not by the engine
}

// newWall builds the engine for f. An error is a fault of ours, not of the
// user: the normal form must always parse.
func newWall(f fields) (*wall, error) {
	asked, chooses := f, f.beyondEngine()
	if chooses {
		asked = f.openDays()
	}
	times, err := parseNormal(normalText(asked))
	if err != nil {
		return nil, err
	}
	midnight := sync.OnceValue(func() *cronexpr.Expression {
		expr, err := parseNormal(midnightText(asked))
		if err != nil {
			return times // never: it differs from what was parsed in three zeros
		}
		return expr
	})
	return &wall{times: *times, midnight: midnight, fields: f, chooses: chooses}, nil
}

func parseNormal(text string) (expr *cronexpr.Expression, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &job.Error{Code: job.CodeInternal, Field: "cron", Value: text, Message: fmt.Sprintf("the field engine panicked on a normal form: %v", r)}
		}
	}()
	expr, err = cronexpr.Parse(text)
	if err != nil {
		return nil, &job.Error{Code: job.CodeInternal, Field: "cron", Value: text, Message: "the field engine refused a normal form: " + err.Error()}
	}
	return expr, nil
}

// next returns the first matching second after the given one, false when there
// is none up to the end of 2099.
func (w *wall) next(after int64) (int64, bool) {
	expr := w.times
	return w.chosen(&expr, after)
}

// nextDay returns the first midnight after the given second whose day matches.
func (w *wall) nextDay(after int64) (int64, bool) {
	expr := *w.midnight()
	return w.chosen(&expr, after)
}

// chosen asks the engine and, where the days are chosen here, passes over the
// days that f does not name.
func (w *wall) chosen(expr *cronexpr.Expression, after int64) (int64, bool) {
	at, ok := nextOf(expr, after)
	for w.chooses && ok {
		year, month, day := instant(at).Date()
		due := w.fields.daysOf(year, month)
		if due.has(day) {
			return at, true
		}
		day, month = later(due, day, month)
		at, ok = nextOf(expr, time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix()-1)
	}
	return at, ok
}

// later is the first due day after the given one of its month, or else the
// first of the next month.
func later(due set, day int, month time.Month) (int, time.Month) {
	if rest := due &^ due.below(day+1); rest != 0 {
		return rest.lowest(), month
	}
	return 1, month + 1
}

func nextOf(expr *cronexpr.Expression, after int64) (next int64, ok bool) {
	defer func() {
		if recover() != nil {
			next, ok = 0, false
		}
	}()
	t := expr.Next(time.Unix(after, 0).UTC())
	if t.IsZero() || t.Unix() <= after {
		return 0, false
	}
	return t.Unix(), true
}
