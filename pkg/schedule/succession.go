package schedule

import "time"

// Succession is a schedule that another one follows at a moment: times up to and
// at At are those of First, later ones those of Then.
type Succession struct {
	First, Then *Plan
	At          time.Time
}

// Upto is the plan without its times after at.
func (p *Plan) Upto(at time.Time) *Plan {
	bounded := *p
	bounded.last = min(bounded.last, at.Unix())
	return &bounded
}

// Next returns the first time strictly after the given instant; false when
// neither schedule has one.
func (s Succession) Next(after time.Time) (time.Time, bool) {
	if at, ok := s.First.Upto(s.At).Next(after); ok {
		return at, true
	}
	if s.At.After(after) {
		after = s.At
	}
	return s.Then.Next(after)
}

// Between lists the times after from and not after to, in order, at most limit
// of them; a limit of zero or less means no limit.
func (s Succession) Between(from, to time.Time, limit int) []time.Time {
	var list []time.Time
	for at, ok := s.Next(from); ok && !at.After(to); at, ok = s.Next(at) {
		list = append(list, at)
		if len(list) == limit {
			break
		}
	}
	return list
}
