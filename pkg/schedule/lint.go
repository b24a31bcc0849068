package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Warning says what is probably not meant. Nothing is refused for it.
type Warning struct {
	Code    string // stable name
	Field   string // of the schedule or of the expression, as in a refusal
	Message string // one sentence: what will happen
	Fix     string // one sentence: what to write if that is not meant
}

// The codes of warnings. They are part of the API: added, never renamed.
const (
	WarnNoZone       = "NO_ZONE"
	WarnUnevenStep   = "UNEVEN_STEP"
	WarnMissingDay   = "MISSING_DAY"
	WarnBothDays     = "BOTH_DAY_FIELDS"
	WarnSecondsFirst = "SECONDS_FIRST"
	WarnEveryMinute  = "EVERY_MINUTE_OF_AN_HOUR"
	WarnWeekdays     = "WEEKDAY_NUMBERS"
	WarnNoClock      = "NO_CLOCK"
	WarnCrowd        = "CROWD"
)

// Lint warns of what a schedule as a person wrote it probably does not mean. A
// schedule that Compile refuses has no warnings.
func Lint(written job.Schedule) []Warning {
	plan, err := Compile(written, instant(0))
	if err != nil {
		return nil
	}
	if written.Cron == "" {
		l := linter{written: written}
		l.lintWithoutClock(plan.zone)
		return l.warnings
	}
	l := linter{written: written, fields: plan.fields, words: wordsOf(plan.schedule)}
	l.noZone()
	l.secondsFirst()
	l.everyMinute()
	l.unevenSteps()
	l.bothDays()
	l.missingDay()
	l.missingWeek()
	l.weekdayNumbers()
	return l.warnings
}

type linter struct {
	written  job.Schedule
	fields   fields
	words    []fieldWord // none for a nickname
	warnings []Warning
}

func (l *linter) warn(code, field, message, fix string) {
	l.warnings = append(l.warnings, Warning{Code: code, Field: field, Message: message, Fix: fix})
}

// fieldWord is the text of one field.
type fieldWord struct{ field, text string }

// wordsOf names the fields of an expression that compiles.
func wordsOf(s job.Schedule) []fieldWord {
	words := strings.Fields(unwrapped(s.Cron))
	names := []string{"minute", "hour", "day-of-month", "month", "day-of-week"}
	for _, reading := range readings[len(words)] {
		if reading.dialect == s.Dialect {
			names = reading.fields
		}
	}
	if len(words) != len(names) {
		return nil
	}
	list := make([]fieldWord, len(words))
	for i, text := range words {
		list[i] = fieldWord{names[i], text}
	}
	return list
}

func (l *linter) word(field string) string {
	for _, w := range l.words {
		if w.field == field {
			return w.text
		}
	}
	return ""
}

// noZone: an interval is the same in every zone, a time of day is not.
func (l *linter) noZone() {
	f := l.fields
	if l.written.Zone != "" || f.everyHour() && f.everyDay() && f.months == allMonths {
		return
	}
	l.warn(WarnNoZone, "zone", "no zone is given, so the times are those of UTC", "name the zone whose clock is meant, such as zone: Europe/Berlin, or zone: UTC")
}

// secondsFirst: six fields that end in a star were most often written for a
// reader that takes the first for the second.
func (l *linter) secondsFirst() {
	if l.written.Dialect != job.DialectCronexpr || len(l.words) != 6 || l.word("year") != "*" {
		return
	}
	first := l.words[0].text
	if first != "0" && first != "00" && !strings.HasPrefix(first, "*/") {
		return
	}
	l.warn(WarnSecondsFirst, "cron", "the first of six fields is the minute here, and the last the year: it fires "+l.fields.describe(),
		"if the first field is the second, name dialect quartz, with ? in one of the two day fields")
}

// bothDays: two restricted day fields are joined with OR.
func (l *linter) bothDays() {
	if l.fields.days.any || l.fields.weekdays.any {
		return
	}
	l.warn(WarnBothDays, "day-of-week", "day-of-month and day-of-week both choose days, and either is enough: it fires"+strings.TrimPrefix(l.fields.describeDay(), ","),
		"leave one of them *; one day that is both, such as a Friday the 13th, cannot be said")
}

// missingDay: a day that some months do not have, named for itself.
func (l *linter) missingDay() {
	d := l.fields.days
	if d.any || strings.Contains(l.word("day-of-month"), "/") {
		return
	}
	for _, day := range (d.each | d.nearest).values() {
		short := l.monthsShorterThan(day)
		if day < 29 || short == 0 || d.each.has(day-1) {
			continue
		}
		fix := "write L for the last day of each month"
		if d.nearest.has(day) {
			fix = "write LW for the last weekday of each month"
		}
		if short == set(0).with(2) && day == 29 {
			fix = "write L if the last day of February is meant"
		}
		l.warn(WarnMissingDay, "day-of-month", fmt.Sprintf("day %d does not come in %s", day, l.shortNames(short, day)), fix)
		return
	}
}

// missingWeek: a fifth weekday, which most months do not have.
func (l *linter) missingWeek() {
	for _, bit := range l.fields.weekdays.nth.values() {
		if bit/7 != len(ordinals)-1 {
			continue
		}
		number := bit % 7
		if l.oneBased() {
			number++
		}
		name := time.Weekday(bit % 7).String()
		l.warn(WarnMissingDay, "day-of-week", "a fifth "+name+" does not come in every month", fmt.Sprintf("write %dL for the last %s of each month", number, name))
		return
	}
}

// oneBased tells whether the dialect's weekdays count from 1 = Sunday.
func (l *linter) oneBased() bool {
	return l.written.Dialect == job.DialectQuartz || l.written.Dialect == job.DialectAWS
}

// weekdayNumbers: the numbers that are Monday to Friday, or the weekend, to most
// readers.
func (l *linter) weekdayNumbers() {
	meant := map[string]string{"1-5": "write MON-FRI if Monday to Friday is meant", "6-7": "write SAT,SUN if the weekend is meant", "6,7": "write SAT,SUN if the weekend is meant"}
	text := l.word("day-of-week")
	if fix := meant[text]; fix != "" && l.oneBased() {
		l.warn(WarnWeekdays, "day-of-week", fmt.Sprintf("1 is Sunday in the dialect %s: %s is %s", l.written.Dialect, text, l.fields.weekdays.describe()), fix)
	}
}

func (l *linter) monthsShorterThan(day int) set {
	var short set
	for _, month := range l.fields.months.values() {
		length := longest(month)
		if month == 2 {
			length = 28
		}
		if length < day {
			short = short.with(month)
		}
	}
	return short
}

func (l *linter) shortNames(months set, day int) string {
	text := named(months.values(), monthName)
	if day == 29 {
		return text + " of common years"
	}
	return text
}

// crowd is from how many jobs on one second Crowd warns.
const crowd = 500

// Crowd warns when many jobs without jitter fall due in the same second next.
// nexts are their next times.
func Crowd(nexts []time.Time) (Warning, bool) {
	due := map[int64]int{}
	var at int64
	for _, next := range nexts {
		if due[next.Unix()]++; due[next.Unix()] > due[at] {
			at = next.Unix()
		}
	}
	if due[at] < crowd {
		return Warning{}, false
	}
	return Warning{Code: WarnCrowd, Field: "schedule",
		Message: fmt.Sprintf("%d of these jobs fall due in one second, %s", due[at], instant(at).Format(time.RFC3339)),
		Fix:     "spread them with jitter, such as jitter: 10m, or with other minutes"}, true
}
