package cost

import (
	"strconv"
	"strings"
)

// Dollars is a sum with cents, its thousands apart.
func Dollars(usd float64) string {
	text := strconv.FormatFloat(usd, 'f', 2, 64)
	whole, cents, _ := strings.Cut(text, ".")
	return apart(whole) + "." + cents
}

// Grouped is a quantity, its thousands apart; small ones keep three digits.
func Grouped(v float64) string {
	if v != 0 && v < 100 && v != float64(int64(v)) {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return apart(strconv.FormatFloat(v, 'f', 0, 64))
}

func apart(digits string) string {
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + " " + digits[at:]
	}
	return digits
}
