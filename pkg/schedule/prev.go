package schedule

import (
	"math"
	"time"
)

// Prev returns the last time strictly before the given instant, in UTC; false
// when the schedule has none before it. It is where the data interval of an
// execution begins.
func (p *Plan) Prev(before time.Time) (time.Time, bool) {
	last := p.latest(math.MinInt64/4, ceil(before)-1, 1)
	if len(last) == 0 {
		return time.Time{}, false
	}
	return instant(last[0]), true
}
