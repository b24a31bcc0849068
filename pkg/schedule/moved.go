package schedule

import "time"

// Moved compares the times after from and not after to that two plans have: gone
// are those of the first alone, come those of the second alone, both in order. It
// reads at most limit times of each and compares no further than both lists reach;
// upto is how far that is.
func Moved(first, second *Plan, from, to time.Time, limit int) (gone, come []time.Time, upto time.Time) {
	a, b := first.Between(from, to, limit), second.Between(from, to, limit)
	upto = to
	for _, list := range [][]time.Time{a, b} {
		if len(list) == limit && list[limit-1].Before(upto) {
			upto = list[limit-1]
		}
	}
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Before(b[0]):
			gone, a = within(gone, a[0], upto), a[1:]
		case len(a) == 0 || b[0].Before(a[0]):
			come, b = within(come, b[0], upto), b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return gone, come, upto
}

func within(list []time.Time, at, upto time.Time) []time.Time {
	if at.After(upto) {
		return list
	}
	return append(list, at)
}
