package schedule

import "github.com/belfry-scheduler/belfry/pkg/job"

// effectsAhead is how far ahead DescribeAt looks for changes of clocks, in
// seconds: a year and a month, so that each yearly one is met.
const effectsAhead = 396 * daySeconds

// describeEffects says, by date, what the next gap and the next repetition do
// to a cron expression; nothing when they do nothing to it, or only to times that
// calendars leave out. An expression that follows elapsed time says so once.
func (p *Plan) describeEffects(now int64) string {
	c, isCron := p.due().(*civil)
	if !isCron || len(p.zone.periods) < 2 {
		return ""
	}
	text, gap, overlap := "", "", ""
	from := max(now, p.first-1)
	for i := c.zone.periodAt(from) + 1; i < len(c.zone.periods) && c.zone.periods[i].start <= min(from+effectsAhead, p.last); i++ {
		if gap == "" && !p.excludes(c.zone.periods[i].start) {
			gap = c.describeGap(i)
			text += gap
		}
		if overlap == "" && !p.excludes(c.firstRepeated(i)) {
			overlap = c.describeOverlap(i)
			text += overlap
		}
	}
	if text != "" && p.fields.everyHour() && c.gap == job.GapSkip && c.overlap == job.OverlapBoth {
		return "; elapsed time goes on where clocks change"
	}
	return text
}

// excludes tells whether calendars leave an instant out, or move it.
func (p *Plan) excludes(at int64) bool {
	k := p.kept()
	if k == nil {
		return false
	}
	out, _ := k.excluded(at)
	return out
}

// firstRepeated is when the first of the times that period i shows again fires;
// the period's beginning when it shows none.
func (c *civil) firstRepeated(i int) int64 {
	_, after := c.zone.jump(i)
	if first, ok := c.wall.next(after - 1); ok {
		if at, fires := c.zone.instantOf(first, c.gap, c.overlap); fires && at < c.zone.periods[i].end {
			return at
		}
	}
	return c.zone.periods[i].start
}

// describeGap says what becomes of the times that the gap before period i
// swallows.
func (c *civil) describeGap(i int) string {
	low, high := c.zone.jump(i)
	first, ok := c.wall.next(low - 1)
	if low >= high || !ok || first >= high {
		return ""
	}
	what := clockText(first, "15:04") + " does not exist"
	if c.wall.countTimes(low-1, high-1) > 1 {
		what = "times from " + clockText(first, "15:04") + " on do not exist"
	}
	if c.gap == job.GapSkip {
		return "; left out on " + clockText(first, dayLayout) + ", when " + what
	}
	shifted := clockText(high, "15:04")
	if floorDay(high) != floorDay(first) {
		shifted += " on " + clockText(high, dayLayout)
	}
	return "; on " + clockText(first, dayLayout) + ", when " + what + ", at " + shifted
}

// describeOverlap says what becomes of the times that the clock shows again
// after it went back to period i.
func (c *civil) describeOverlap(i int) string {
	before, after := c.zone.jump(i)
	first, ok := c.wall.next(after - 1)
	if after >= before || !ok || first >= before {
		return ""
	}
	what := clockText(first, "15:04") + " comes"
	if c.wall.countTimes(after-1, before-1) > 1 {
		what = "times from " + clockText(first, "15:04") + " on come"
	}
	return "; on " + clockText(first, dayLayout) + ", when " + what + " twice, " + overlapWords[c.overlap]
}

// dayLayout is a date in words.
const dayLayout = "2 January 2006"
