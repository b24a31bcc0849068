package schedule

import (
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Plan is a schedule made ready to be asked. It is immutable and safe for
// concurrent use. Its times are whole seconds in UTC, strictly increasing, and
// end with the year 2099.
type Plan struct {
	times       times
	zone        *zone
	schedule    job.Schedule // with zone, gap and overlap filled in
	fields      fields       // of a cron expression
	first, last int64        // bounds in Unix seconds, both inclusive, within 1970-2099
}

// times is the source of a plan's instants, in Unix seconds.
type times interface {
	// next returns the first instant after the given one, false if none.
	next(after int64) (int64, bool)
	// count returns how many instants lie after the first and not after the
	// second argument, without visiting each.
	count(after, upto int64) int64
}

// Next returns the first time strictly after the given instant, in UTC; false
// when there is none up to the schedule's end or the end of 2099.
func (p *Plan) Next(after time.Time) (time.Time, bool) {
	at, ok := p.next(after.Unix())
	if !ok {
		return time.Time{}, false
	}
	return instant(at), true
}

// Between lists the times after from and not after to, in order, at most limit
// of them; a limit of zero or less means no limit.
func (p *Plan) Between(from, to time.Time, limit int) []time.Time {
	var list []time.Time
	p.visit(from.Unix(), to.Unix(), func(at int64) bool {
		list = append(list, instant(at))
		return len(list) != limit
	})
	return list
}

// visit shows the times after the first and not after the second instant, in
// order, until it is told that this is enough.
func (p *Plan) visit(after, upto int64, more func(at int64) bool) {
	m, isMoved := p.times.(*moved)
	if !isMoved {
		for at, ok := p.next(after); ok && at <= upto; at, ok = p.next(at) {
			if !more(at) {
				return
			}
		}
		return
	}
	after, upto = max(after, p.first-1), min(upto, p.last)
	for ; after < upto; after += stretch {
		for _, at := range m.between(after, min(after+stretch, upto)) {
			if !more(at) {
				return
			}
		}
	}
}

// Location is the zone whose wall clock the schedule follows; UTC for a
// schedule that names none.
func (p *Plan) Location() *time.Location { return p.zone.loc }

// Schedule returns the schedule as compiled: zone, dialect and, for a cron
// expression, both DST policies filled in.
func (p *Plan) Schedule() job.Schedule { return p.schedule }

func (p *Plan) next(after int64) (int64, bool) {
	at, ok := p.times.next(max(after, p.first-1))
	return at, ok && at <= p.last
}

func (p *Plan) count(after, upto int64) int64 {
	after, upto = max(after, p.first-1), min(upto, p.last)
	if after >= upto {
		return 0
	}
	return p.times.count(after, upto)
}

// latest lists the last n times after the first and not after the second
// instant, in order. It looks back in growing strides and so holds a few times
// n seconds at most, however long the stretch is.
func (p *Plan) latest(after, upto int64, n int) []int64 {
	upto = min(upto, p.last)
	from := max(after, p.first-1)
	for stride := int64(n) * 2; stride < upto-from; stride *= 2 {
		if p.count(upto-stride, upto) >= int64(n) {
			from = upto - stride
			break
		}
	}
	skipped := p.count(from, upto) - int64(n)
	var list []int64
	p.visit(from, upto, func(at int64) bool {
		if skipped--; skipped < 0 {
			list = append(list, at)
		}
		return true
	})
	return list
}

func instant(unix int64) time.Time { return time.Unix(unix, 0).UTC() }

// ceil is the first whole second that is not before t.
func ceil(t time.Time) int64 {
	if t.Nanosecond() > 0 {
		return t.Unix() + 1
	}
	return t.Unix()
}
