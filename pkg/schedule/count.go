package schedule

// count returns how many instants lie after the first and not after the second
// argument. Far from changes of clocks it counts days and times of day; near
// them it visits each time.
func (c *civil) count(after, upto int64) int64 {
	after, upto = max(after, periodsFrom), min(upto, periodsTo)
	var n int64
	for i := c.zone.periodAt(after + 1); i < len(c.zone.periods) && after < upto; i++ {
		p := c.zone.periods[i]
		calmFrom, calmTo := max(after, p.start+reach), min(upto, p.end-reach)
		if calmFrom < calmTo {
			n += c.visit(after, calmFrom)
			n += c.wall.countTimes(calmFrom+p.offset, calmTo+p.offset)
			after = calmTo
		}
		n += c.visit(after, min(upto, p.end-1))
		after = max(after, min(upto, p.end-1))
	}
	return n
}

// visit counts by asking for each time.
func (c *civil) visit(after, upto int64) int64 {
	var n int64
	for after < upto {
		at, ok := c.next(after)
		if !ok || at > upto {
			break
		}
		n, after = n+1, at
	}
	return n
}

const daySeconds = 86400

// countTimes returns how many wall-clock times lie after the first and not
// after the second argument.
func (w *wall) countTimes(after, upto int64) int64 {
	perDay := w.upToClock(daySeconds - 1)
	var n int64
	// From the midnight at or before after: its own times up to after are
	// taken off again.
	midnight, ok := w.nextDay(floorDay(after) - 1)
	for ok && midnight <= upto {
		n += perDay
		if midnight <= after {
			n -= w.upToClock(after - midnight)
		}
		if rest := upto - midnight; rest < daySeconds {
			n -= perDay - w.upToClock(rest)
		}
		midnight, ok = w.nextDay(midnight)
	}
	return n
}

func floorDay(at int64) int64 {
	day := at / daySeconds
	if at%daySeconds < 0 {
		day--
	}
	return day * daySeconds
}

// upToClock counts the times of a matching day that are not after the given
// second of it.
func (w *wall) upToClock(second int64) int64 {
	f := w.fields
	hour, minute, sec := int(second/3600), int(second/60%60), int(second%60)
	perMinute := int64(f.seconds.count())
	perHour := perMinute * int64(f.minutes.count())
	n := int64(f.hours.below(hour).count()) * perHour
	if !f.hours.has(hour) {
		return n
	}
	n += int64(f.minutes.below(minute).count()) * perMinute
	if f.minutes.has(minute) {
		n += int64(f.seconds.below(sec + 1).count())
	}
	return n
}
