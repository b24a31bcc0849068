package schedule

import (
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// ParseTime reads an instant in strict RFC 3339: a date of 1970–2099, a capital
// T, a time of day up to 23:59:59 with an optional fraction, and Z or an offset
// of hours and minutes. What could mean two instants, or none, is refused;
// field names the value in the error.
func ParseTime(field, text string) (time.Time, error) {
	const bound = "RFC 3339 with offset, such as 2026-07-12T01:30:00Z or 2026-07-12T03:30:00+02:00"
	bad := func(why string) (time.Time, error) {
		return time.Time{}, withCode(job.CodeTimeInvalid, refuse(field, text, bound, "%s is not a time: %s", quote(text), why))
	}
	if text == "" {
		return bad("it is empty")
	}
	if why := timeShape(text); why != "" {
		return bad(why)
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return bad("it has a month, day, hour, minute, second or offset that does not exist")
	}
	if t.Year() < 1970 || t.Year() > 2099 {
		return bad("its year is not one of 1970-2099")
	}
	return t, nil
}

// timeShape says what is wrong with the form of text, "" for nothing. The
// library alone would let some forms pass, such as a comma before the fraction,
// one-digit hours and offsets of 99 minutes.
func timeShape(text string) string {
	const longest = 64
	const date = "dddd-dd-ddTdd:dd:dd"
	if len(text) > longest {
		return "it is too long"
	}
	if !matches(text, date) {
		return "it does not begin with a date, T and a time of day to the second"
	}
	rest := text[len(date):]
	if rest != "" && rest[0] == '.' {
		end := 1
		for end < len(rest) && digits(rest[end:end+1]) {
			end++
		}
		if end == 1 {
			return "a fraction needs digits"
		}
		rest = rest[end:]
	}
	switch {
	case rest == "Z":
		return ""
	case rest == "":
		return "the offset is missing, without which it names no instant"
	case matches(rest, "+dd:dd") || matches(rest, "-dd:dd"):
		if len(rest) != 6 || rest[1:3] > "23" || rest[4:6] > "59" {
			return "its offset is not one of -23:59 to +23:59"
		}
		return ""
	}
	return "it does not end with Z or an offset such as +02:00"
}

// matches tells whether text begins with pattern, d standing for a digit.
func matches(text, pattern string) bool {
	if len(text) < len(pattern) {
		return false
	}
	for i := range len(pattern) {
		if pattern[i] == 'd' && !digits(text[i:i+1]) || pattern[i] != 'd' && text[i] != pattern[i] {
			return false
		}
	}
	return true
}
