package schedule

import "math/bits"

// The years of all schedules.
const (
	firstYear = 1970
	lastYear  = 2099
)

// years is a set of years, one bit each from 1970 on.
type years [3]uint64

var allYears = yearSpan(firstYear, lastYear)

func yearSpan(low, high int) years {
	var y years
	for v := low; v <= high; v++ {
		y.add(v)
	}
	return y
}

func (y *years) add(v int) { y[(v-firstYear)/64] |= 1 << uint((v-firstYear)%64) }

// values lists y in ascending order.
func (y years) values() []int {
	var list []int
	for i, word := range y {
		for ; word != 0; word &= word - 1 {
			list = append(list, firstYear+i*64+bits.TrailingZeros64(word))
		}
	}
	return list
}
