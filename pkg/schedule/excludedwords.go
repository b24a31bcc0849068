package schedule

import (
	"strconv"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// due are the times of the schedule itself, before calendars.
func (p *Plan) due() times {
	if k := p.kept(); k != nil {
		return k.times
	}
	return p.times
}

// kept is the calendars' part of a plan, nil without any.
func (p *Plan) kept() *kept {
	switch t := p.times.(type) {
	case *kept:
		return t
	case *moved:
		return t.kept
	}
	return nil
}

// describeRules says which calendars a schedule keeps to.
func (p *Plan) describeRules() string {
	k := p.kept()
	if k == nil {
		return ""
	}
	text := ""
	if len(k.rules.Include) > 0 {
		text += "; only within " + names(k.rules.Include)
	}
	if len(k.rules.Exclude) > 0 {
		text += "; not within " + names(k.rules.Exclude)
	}
	switch k.rules.OnExcluded {
	case ExcludedNext:
		text += ", but on the next business day then"
	case ExcludedPrevious:
		text += ", but on the previous business day then"
	case ExcludedSkip:
	}
	return text
}

func names(list []*Hours) string {
	texts := make([]string, len(list))
	for i, h := range list {
		texts[i] = h.name
	}
	return joined(texts)
}

// why names the calendars that exclude an instant.
func (k *kept) why(at int64) string {
	var holding []*Hours
	for _, h := range k.rules.Exclude {
		if held, _ := h.at(at); held {
			holding = append(holding, h)
		}
	}
	if len(holding) > 0 {
		return "within " + names(holding)
	}
	return "not within " + names(k.rules.Include)
}

// markExcluded says which times before at the calendars left out, and from
// where at was moved.
func (p *Plan) markExcluded(previous, at int64) []string {
	switch t := p.times.(type) {
	case *kept:
		return t.markLeftOut(max(previous, p.first-1), at)
	case *moved:
		return t.markMoved(at)
	}
	return nil
}

// LeftOut says in words what calendars, or the policy for gaps, leave out after
// the last time of a schedule, which no later time can tell; "" when that is
// nothing.
func (p *Plan) LeftOut(last time.Time) string {
	var marks []string
	from := max(last.Unix(), p.first-1)
	if k, keeps := p.times.(*kept); keeps {
		marks = k.markLeftOut(from, p.last+1)
	}
	if c, isCron := p.due().(*civil); isCron && c.gap == job.GapSkip {
		for i := c.zone.periodAt(from) + 1; i < len(c.zone.periods) && c.zone.periods[i].start <= p.last; i++ {
			if text := c.markGap(i, p.last+1); text != "" {
				marks = append(marks, text)
			}
		}
	}
	for i, mark := range marks {
		marks[i] = strings.TrimPrefix(mark, "before this, ")
	}
	return joinMost(marks)
}

func (k *kept) markLeftOut(previous, at int64) []string {
	n := k.times.count(previous, at-1)
	first, ok := k.times.next(previous)
	if n == 0 || !ok {
		return nil
	}
	text := "before this, " + k.clock(first) + ", " + k.why(first) + ": left out"
	if n > 1 {
		text = "before this, " + strconv.FormatInt(n, 10) + " times from " + k.clock(first) + ", " + k.why(first) + ": left out"
	}
	return []string{text}
}

func (m *moved) markMoved(at int64) []string {
	var marks []string
	for from, ok := m.kept.times.next(at - mostMoved*daySeconds - reach); ok && from <= at+mostMoved*daySeconds+reach; from, ok = m.kept.times.next(from) {
		if to, kept := m.move(from); kept && to == at && from != at {
			marks = append(marks, "moved here from "+clockText(m.dueFor(from), excludedLayout)+", "+m.kept.why(from)+m.notShown(from, at))
		}
	}
	return marks
}

// notShown says that a time moved to a day on which the clock does not show its
// time of day, so that it fires after the gap.
func (m *moved) notShown(from, to int64) string {
	wanted := clockText(m.dueFor(from), "15:04")
	if clockText(m.kept.wallAt(to), "15:04") == wanted {
		return ""
	}
	return ", right after the gap since " + wanted + " does not exist on this day"
}

const excludedLayout = "Mon 2006-01-02 15:04"

// clock shows an instant on the schedule's wall clock.
func (k *kept) clock(at int64) string { return clockText(k.wallAt(at), excludedLayout) }

// wallAt is what the schedule's clock shows at an instant.
func (k *kept) wallAt(at int64) int64 { return at + k.zone.periods[k.zone.periodAt(at)].offset }
