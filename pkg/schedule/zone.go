package schedule

import (
	"math"
	"sort"
	"time"
)

// zone is a time zone as a list of periods of constant offset, from 1970 to
// 2100. The list is immutable and shared.
type zone struct {
	name    string
	loc     *time.Location
	periods []period // in order, without holes
}

// period is a stretch of instants, from start on and before end, during which
// the wall clock runs offset seconds ahead of UTC.
type period struct {
	start, end int64
	offset     int64
}

// reach bounds, in seconds, how far two offsets of a zone may lie apart, and
// so how far from a change of clocks its effect can be felt: offsets run from
// -16 h to +16 h, and Samoa moved by 24 h in one night.
const reach = 32 * 3600

// The first and last instants that a list of periods is exact for: a margin
// beyond 1970-2099 on both sides.
const (
	periodsFrom = -40 * 86400
	periodsTo   = horizon + 40*86400
)

// horizon is the last second of 2099, the end of all schedules.
const horizon = 4102444799

// loadZone returns the zone with exactly this name in the embedded database.
func loadZone(name string) (*zone, error) { return embedded().load(name) }

// load returns the zone with exactly this name.
func (z *Zones) load(name string) (*zone, error) {
	if known, ok := z.loaded.Load(name); ok {
		return known.(*zone), nil
	}
	loc, err := z.loadLocation(name)
	if err != nil {
		return nil, err
	}
	loaded, _ := z.loaded.LoadOrStore(name, &zone{name: name, loc: loc, periods: periodsOf(loc)})
	return loaded.(*zone), nil
}

// periodsOf lists the periods of loc. Changes of name or of the DST flag alone
// are no boundary.
func periodsOf(loc *time.Location) []period {
	list := []period{{start: math.MinInt64 / 4, offset: offsetAt(loc, periodsFrom)}}
	for at := int64(periodsFrom); ; {
		change, ok := nextChange(loc, at)
		if !ok {
			break
		}
		list[len(list)-1].end = change
		list = append(list, period{start: change, offset: offsetAt(loc, change)})
		at = change
	}
	list[len(list)-1].end = math.MaxInt64 / 4
	return list
}

// nextChange finds the first instant after at with another offset.
func nextChange(loc *time.Location, at int64) (int64, bool) {
	offset := offsetAt(loc, at)
	for at < periodsTo {
		_, bound := time.Unix(at, 0).In(loc).ZoneBounds()
		next := bound.Unix()
		switch {
		case bound.IsZero():
			return 0, false
		case next <= at:
			// On the last day of a leap year the library's bound, a year of 365
			// days, can lie behind the instant asked about. Step on by hand.
			next = at + 3600
		}
		if offsetAt(loc, next) != offset {
			return firstChange(loc, at, next), true
		}
		at = next
	}
	return 0, false
}

// firstChange narrows down the first instant in (low, high] whose offset is not
// that of low; there is one change at most between two bounds.
func firstChange(loc *time.Location, low, high int64) int64 {
	offset := offsetAt(loc, low)
	n := sort.Search(int(high-low), func(i int) bool {
		return offsetAt(loc, low+int64(i)+1) != offset
	})
	return low + int64(n) + 1
}

func offsetAt(loc *time.Location, at int64) int64 {
	_, offset := time.Unix(at, 0).In(loc).Zone()
	return int64(offset)
}

// periodAt returns the index of the period that holds the instant.
func (z *zone) periodAt(at int64) int {
	return sort.Search(len(z.periods), func(i int) bool { return at < z.periods[i].end })
}

// jump returns what the clock would have shown as period i began, and what it
// shows instead. From the one on and before the other lies a gap; it is empty
// when clocks went back.
func (z *zone) jump(i int) (from, to int64) {
	if i == 0 {
		return 0, 0
	}
	start := z.periods[i].start
	return start + z.periods[i-1].offset, start + z.periods[i].offset
}
