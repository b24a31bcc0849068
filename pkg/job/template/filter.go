package template

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// filterNames is the closed list of filters.
var filterNames = []string{"date", "utc", "add", "unix", "unix_ms", "default", "json"}

// check holds an expression against what its filters take, without any facts.
func (e *expression) check() error {
	kind, may := isText, false // may: the value may be absent
	if !e.source.isLiteral {
		k, _ := find(e.source.name)
		kind, may = k.kind, k.sometimes && k.kind == isTime
	}
	for i, f := range e.filters {
		last := i == len(e.filters)-1
		needs := func(want kindOf) error {
			if want(kind) {
				return nil
			}
			return wrong(f.name, "a time", fmt.Sprintf("the filter %s takes a time, and this is %s", f.name, kind), "use it behind scheduled_time, interval_start, interval_end or deadline")
		}
		if err := f.checkArgument(); err != nil {
			return err
		}
		switch f.name {
		case "date":
			if err := needs(aTime); err != nil {
				return err
			}
			kind = isText
		case "unix", "unix_ms":
			if err := needs(aTime); err != nil {
				return err
			}
			kind = isNumber
		case "utc", "add":
			if err := needs(aTime); err != nil {
				return err
			}
		case "default":
			ends := last || i == len(e.filters)-2 && e.filters[i+1].name == "json"
			if !f.named && !ends || f.named && kind != isTime {
				return wrong(f.argument, "a text at the end, or the name of a time", "a text that stands in for an absent value comes last; a time stands in for times alone", "move default to the end, or name a time such as scheduled_time")
			}
			may = false
		case "json":
			if !last {
				return wrong("json", "at the end", "the filter json comes last", "move it to the end")
			}
		}
	}
	if may {
		return wrong(e.source.name, "with | default", "there is no interval_start where there was no time before, and of what a person ran", "add | default interval_end, or | default '…' at the end")
	}
	return nil
}

type kindOf func(kind) bool

func aTime(k kind) bool { return k == isTime }

func (f filter) checkArgument() error {
	switch f.name {
	case "utc", "unix", "unix_ms", "json":
		if f.given {
			return wrong(f.argument, "nothing", fmt.Sprintf("the filter %s takes nothing behind it", f.name), "leave it out")
		}
		return nil
	case "default":
		if k, is := find(f.argument); f.named && (!is || k.kind != isTime || k.sometimes) {
			return wrong(f.argument, "scheduled_time, interval_end, deadline, or a text in quotes", fmt.Sprintf("%q cannot stand in for a time", f.argument), "name a time that is always there, or put a text in quotes")
		}
	}
	if !f.given || f.named && f.name != "default" {
		return wrong(f.name, "a text in quotes", fmt.Sprintf("the filter %s needs a text in quotes", f.name), "write it as | "+f.name+" '…'")
	}
	switch f.name {
	case "date":
		_, err := formatDate(time.Unix(0, 0), f.argument)
		return err
	case "add":
		_, err := parseSpan(f.argument)
		return err
	}
	return nil
}

// apply makes a value into another.
func (f filter) apply(v value, facts *Facts) (value, error) {
	if v.absent && f.name != "default" {
		return v, nil
	}
	switch f.name {
	case "date":
		text, err := formatDate(v.at, f.argument)
		return textOf(text), err
	case "utc":
		v.at = v.at.UTC()
	case "add":
		span, err := parseSpan(f.argument)
		if err != nil {
			return v, err
		}
		v.at = v.at.AddDate(0, 0, span.days).Add(span.rest)
	case "unix":
		return numberOf(v.at.Unix()), nil
	case "unix_ms":
		return numberOf(v.at.UnixMilli()), nil
	case "json":
		return value{kind: isJSON, text: v.json()}, nil
	case "default":
		if !v.absent {
			return v, nil
		}
		if !f.named {
			return textOf(f.argument), nil
		}
		k, _ := find(f.argument)
		stand := k.of(facts)
		stand.at = stand.at.In(zone(facts))
		return stand, nil
	}
	return v, nil
}

func zone(f *Facts) *time.Location {
	if f.Zone == nil {
		return time.UTC
	}
	return f.Zone
}

// span is a length to add: days of the calendar, in the zone that the time is in,
// and the rest as time passes.
type span struct {
	days int
	rest time.Duration
}

const maxDays = 36600

func parseSpan(text string) (span, error) {
	refuse := func() (span, error) {
		return span{}, wrong(shorten(text), "such as -1d, 90m, -1d12h, 30s; up to a hundred years", "this is no length to add to a time", "write numbers with d, h, m or s, and a - in front to go back")
	}
	sign, rest := 1, text
	if after, back := strings.CutPrefix(text, "-"); back {
		sign, rest = -1, after
	}
	var s span
	for _, unit := range []struct {
		letter string
		of     time.Duration
	}{{"d", 0}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}} {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		after, is := strings.CutPrefix(rest[digits:], unit.letter)
		if digits == 0 || !is {
			continue
		}
		n, err := strconv.Atoi(rest[:digits])
		if err != nil || n > maxDays*24*3600 || unit.of == 0 && n > maxDays || unit.of > 0 && n > int(maxDays*24*time.Hour/unit.of) {
			return refuse()
		}
		if rest = after; unit.of == 0 {
			s.days = sign * n
		} else {
			s.rest += time.Duration(sign*n) * unit.of
		}
	}
	if rest != "" || text == "" || text == "-" {
		return refuse()
	}
	return s, nil
}
