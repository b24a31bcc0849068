package schedule

import (
	"fmt"
	"time"

	"github.com/gorhill/cronexpr"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// wall is the field engine behind a wall. It speaks of wall-clock seconds: the
// seconds since 1970-01-01 00:00 on a clock that never jumps. Known faults of
// the engine, and what keeps them out:
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
	times    cronexpr.Expression // every matching second
	midnight cronexpr.Expression // the first second of each matching day
	fields   fields
}

// newWall builds the engine for f. An error is a fault of ours, not of the
// user: the normal form must always parse.
func newWall(f fields) (*wall, error) {
	times, err := parseNormal(normalText(f))
	if err != nil {
		return nil, err
	}
	midnight, err := parseNormal(midnightText(f))
	if err != nil {
		return nil, err
	}
	return &wall{times: *times, midnight: *midnight, fields: f}, nil
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
	return nextOf(&expr, after)
}

// nextDay returns the first midnight after the given second whose day matches.
func (w *wall) nextDay(after int64) (int64, bool) {
	expr := w.midnight
	return nextOf(&expr, after)
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
