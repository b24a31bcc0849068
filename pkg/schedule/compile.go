package schedule

import (
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Compile makes a schedule ready to be asked. The phase of an every schedule
// without Start is anchor's second; the other kinds ignore anchor, but for a
// refusal that shows coming times: it shows those after anchor.
//
// Everything a person can get wrong is refused here, as a *job.Error that names
// the field, the value and the bound: the kind, the expression, the dialect,
// the zone, the policies, the bounds, and a schedule that fires at no instant
// of 1970–2099. Whether its times lie in the past, between Start and End, or in
// gaps that its policy skips is another question: FiresAfter.
func Compile(s job.Schedule, anchor time.Time) (*Plan, error) { return CompileUnder(s, anchor, nil) }

func compile(zones *Zones, s job.Schedule, anchor time.Time) (*Plan, error) {
	if err := checkShape(s); err != nil {
		return nil, err
	}
	if s.Zone == "" {
		s.Zone = job.DefaultZone
	}
	z, err := zones.load(s.Zone)
	if err != nil {
		return nil, err
	}
	p := &Plan{zone: z, schedule: s, first: 0, last: horizon}
	if err := p.bound(); err != nil {
		return nil, err
	}
	switch {
	case s.Cron != "":
		err = p.compileCron(anchor)
	case s.Every != 0:
		err = p.compileEvery(anchor)
	default:
		err = p.compileAt()
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// checkShape refuses what does not depend on the kind's own grammar.
func checkShape(s job.Schedule) error {
	given := 0
	for _, set := range []bool{s.Cron != "", s.Every != 0, !s.At.IsZero()} {
		if set {
			given++
		}
	}
	if given != 1 {
		what := "more than one of cron, every and at is given"
		if given == 0 {
			what = "none of cron, every and at is given, or every is 0"
		}
		return refuse("schedule", "", "exactly one of cron, every, at", "%s", what)
	}
	if err := checkPolicies(s.Gap, s.Overlap); err != nil {
		return err
	}
	if err := checkJitter(s.Jitter); err != nil {
		return err
	}
	return checkDialect(s.Dialect)
}

func checkPolicies(gap job.GapPolicy, overlap job.OverlapPolicy) error {
	switch gap {
	case "", job.GapSkip, job.GapShiftForward:
	default:
		return refusePolicy("gap", string(gap), "SKIP or SHIFT_FORWARD")
	}
	switch overlap {
	case "", job.OverlapFirst, job.OverlapSecond, job.OverlapBoth:
	default:
		return refusePolicy("overlap", string(overlap), "FIRST, SECOND or BOTH")
	}
	return nil
}

func refusePolicy(field, value, bound string) error {
	return withCode(job.CodePolicyUnknown, refuse(field, value, bound, "%s is not a policy for %s", quote(value), field))
}

// bound takes over Start and End.
func (p *Plan) bound() error {
	start, end := p.schedule.Start, p.schedule.End
	if !start.IsZero() {
		p.first = max(p.first, ceil(start))
	}
	if !end.IsZero() {
		p.last = min(p.last, end.Unix())
	}
	if !start.IsZero() && !end.IsZero() && end.Before(start) {
		return refuse("end", end.Format(time.RFC3339), "not before start", "end %s lies before start %s",
			end.Format(time.RFC3339), start.Format(time.RFC3339))
	}
	return nil
}

func (p *Plan) compileCron(asked time.Time) error {
	parse, err := chooseGrammar(&p.schedule, asked)
	if err != nil {
		return err
	}
	if p.fields, err = parse(p.schedule.Cron); err != nil {
		return err
	}
	p.fillPolicies()
	// The search below would find it too, after 130 years of months.
	if p.fields.impossible() {
		return refuseNever(p.schedule.Cron)
	}
	w, err := newWall(p.fields)
	if err != nil {
		return err
	}
	p.times = &civil{wall: w, zone: p.zone, gap: p.schedule.Gap, overlap: p.schedule.Overlap}
	// A time that only the gap policy leaves out is none for a job (FiresAfter),
	// but the expression itself is sound.
	lenient := &civil{wall: w, zone: p.zone, gap: job.GapShiftForward, overlap: job.OverlapBoth}
	if at, ok := lenient.next(-1); !ok || at > horizon {
		return refuseNever(p.schedule.Cron)
	}
	return nil
}

// fillPolicies chooses the DST policies that were not given. An expression for
// every hour describes an interval: it follows elapsed time. Any other names
// times of day: each fires once, late rather than never.
func (p *Plan) fillPolicies() {
	gap, overlap := job.GapShiftForward, job.OverlapFirst
	if p.fields.everyHour() {
		gap, overlap = job.GapSkip, job.OverlapBoth
	}
	if p.schedule.Gap == "" {
		p.schedule.Gap = gap
	}
	if p.schedule.Overlap == "" {
		p.schedule.Overlap = overlap
	}
}

func refuseNever(cron string) error {
	return withCode(job.CodeScheduleNever, withFix(
		refuse("cron", cron, "", "%s fires at no time from 1970 to 2099", quote(cron)),
		"check the days against month and year: April, June, September and November have 30 days, February has 28, and 29 in leap years, so that it has a fifth weekday only then"))
}

func (p *Plan) compileEvery(anchor time.Time) error {
	every := p.schedule.Every
	if every < job.Duration(time.Second) || every%job.Duration(time.Second) != 0 {
		return refuse("every", time.Duration(every).String(), "whole seconds, at least 1s", "an interval of %s is not possible", time.Duration(every))
	}
	v := interval{anchor: anchor.Unix(), step: int64(every / job.Duration(time.Second))}
	switch {
	case !p.schedule.Start.IsZero():
		v.anchor = p.first
	case anchor.IsZero():
		v.anchor = 0
	}
	p.times = v
	return nil
}

func (p *Plan) compileAt() error {
	at := p.schedule.At
	if at.Nanosecond() != 0 {
		return withCode(job.CodeTimeInvalid, withFix(
			refuse("at", at.Format(time.RFC3339Nano), "whole seconds", "%s is not a whole second", at.Format(time.RFC3339Nano)),
			"leave out the fraction"))
	}
	if at.Unix() < 0 || at.Unix() > horizon {
		return withCode(job.CodeTimeInvalid,
			refuse("at", at.Format(time.RFC3339), "1970-01-01 to 2099-12-31", "%s is out of range", at.Format(time.RFC3339)))
	}
	p.times = once(at.Unix())
	return nil
}
