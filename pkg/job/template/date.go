package template

import (
	"fmt"
	"strings"
	"time"
)

// conversions are the parts of a time that a format can name: those of strftime
// that mean the same everywhere and in every language.
var conversions = map[byte]func(time.Time) string{
	'Y': func(t time.Time) string { return t.Format("2006") },
	'm': func(t time.Time) string { return t.Format("01") },
	'd': func(t time.Time) string { return t.Format("02") },
	'H': func(t time.Time) string { return t.Format("15") },
	'M': func(t time.Time) string { return t.Format("04") },
	'S': func(t time.Time) string { return t.Format("05") },
	'j': func(t time.Time) string { return fmt.Sprintf("%03d", t.YearDay()) },
	'u': func(t time.Time) string { return fmt.Sprint((int(t.Weekday())+6)%7 + 1) },
	'G': func(t time.Time) string { year, _ := t.ISOWeek(); return fmt.Sprintf("%04d", year) },
	'V': func(t time.Time) string { _, week := t.ISOWeek(); return fmt.Sprintf("%02d", week) },
	'z': func(t time.Time) string { return t.Format("-0700") },
	'F': func(t time.Time) string { return t.Format("2006-01-02") },
	'T': func(t time.Time) string { return t.Format("15:04:05") },
	's': func(t time.Time) string { return fmt.Sprint(t.Unix()) },
	'%': func(time.Time) string { return "%" },
}

const conversionNames = "%Y %m %d %H %M %S %j %u %G %V %z %F %T %s %%"

// maxFormat is the longest format, in bytes.
const maxFormat = 100

func formatDate(t time.Time, format string) (string, error) {
	if format == "" || len(format) > maxFormat {
		return "", wrong(shorten(format), fmt.Sprintf("1 to %d bytes", maxFormat), "the format is empty or too long", "write it as %Y-%m-%d")
	}
	if !strings.Contains(format, "%") {
		return "", wrong(format, conversionNames, fmt.Sprintf("the format %q has no part of a time", format), "write it as %Y-%m-%d")
	}
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		var convert func(time.Time) string
		if i++; i < len(format) {
			convert = conversions[format[i]]
		}
		if convert == nil {
			return "", wrong(shorten(format), conversionNames, fmt.Sprintf("the format %q names a part of a time that there is none of", shorten(format)), "use "+conversionNames)
		}
		b.WriteString(convert(t))
	}
	return b.String(), nil
}
