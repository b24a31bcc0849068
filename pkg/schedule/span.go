package schedule

import "time"

// Span measures the times from the first to the second instant, both included,
// without visiting each.
func (p *Plan) Span(from, to time.Time) Range { return p.rangeOf(ceil(from)-1, to.Unix()) }
