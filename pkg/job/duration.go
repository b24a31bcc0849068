package job

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration is a length of time that reads and writes as text: Go's syntax
// ("90s", "1h30m") plus d for days of 24 hours ("7d", "1d12h"). The zero value
// means "not given".
type Duration time.Duration

// longestDays is what a Duration can hold in whole days.
const longestDays = int64(math.MaxInt64 / (24 * time.Hour))

// ParseDuration reads a duration. A negative one, a bare number other than 0,
// days that are not a whole number at the front, and what is longer than 106751
// days are refused.
func ParseDuration(text string) (Duration, error) {
	refuse := func(why string) (Duration, error) {
		return 0, &Error{Code: CodeInvalid, Value: Shorten(text), Message: "\"" + Shorten(text) + "\" is not a duration: " + why,
			Bound: "such as 30s, 15m, 1h30m, 7d", Fix: "write a number with a unit: s, m, h or d"}
	}
	if text == "" {
		return refuse("it is empty")
	}
	var days int64
	rest := text
	if at := strings.IndexByte(text, 'd'); at >= 0 {
		n, err := strconv.ParseUint(text[:at], 10, 63)
		if err != nil || int64(n) > longestDays {
			return refuse("days must be a whole number at the front, up to " + strconv.FormatInt(longestDays, 10))
		}
		days, rest = int64(n), text[at+1:]
	}
	var d time.Duration
	if rest != "" {
		if rest[0] == '+' || rest[0] == '-' {
			return refuse("a sign is not allowed")
		}
		parsed, err := time.ParseDuration(rest)
		if err != nil {
			return refuse("it does not read as a number with a unit")
		}
		d = parsed
	}
	whole := time.Duration(days) * 24 * time.Hour
	if d > math.MaxInt64-whole {
		return refuse("it is longer than " + strconv.FormatInt(longestDays, 10) + " days")
	}
	return Duration(whole + d), nil
}

// Std returns d as the standard library's type.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String renders d in the form that ParseDuration reads, whole days first.
func (d Duration) String() string {
	std := time.Duration(d)
	days := std / (24 * time.Hour)
	rest := std % (24 * time.Hour)
	if days == 0 {
		return trimZeroUnits(rest.String())
	}
	if rest == 0 {
		return strconv.FormatInt(int64(days), 10) + "d"
	}
	return strconv.FormatInt(int64(days), 10) + "d" + trimZeroUnits(rest.String())
}

func trimZeroUnits(s string) string {
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// MarshalText writes the text form, empty for zero.
func (d Duration) MarshalText() ([]byte, error) {
	if d == 0 {
		return nil, nil
	}
	return []byte(d.String()), nil
}

// UnmarshalText reads the text form; empty text is zero.
func (d *Duration) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*d = 0
		return nil
	}
	parsed, err := ParseDuration(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}
