package schedule

import (
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// CompileUnder is Compile for a schedule that names calendars: pinned holds their
// content. A name whose content is not there is refused, by Compile too, so that
// no time is ever told as if the calendar were empty.
func CompileUnder(s job.Schedule, anchor time.Time, pinned []job.PinnedCalendar) (*Plan, error) {
	return (*Zones)(nil).CompileUnder(s, anchor, pinned)
}

// CompileUnder is the package's CompileUnder with the zones of this database.
func (z *Zones) CompileUnder(s job.Schedule, anchor time.Time, pinned []job.PinnedCalendar) (*Plan, error) {
	z = z.orEmbedded()
	plan, err := compile(z, s.Bare(), anchor)
	if err != nil || len(s.Include)+len(s.Exclude) == 0 && s.OnExcluded == "" {
		return plan, err
	}
	rules := Rules{OnExcluded: s.OnExcluded}
	for _, side := range []struct {
		field string
		names []string
		hours *[]*Hours
	}{{"include", s.Include, &rules.Include}, {"exclude", s.Exclude, &rules.Exclude}} {
		for _, name := range side.names {
			hours, err := z.content(side.field, name, pinned)
			if err != nil {
				return nil, err
			}
			*side.hours = append(*side.hours, hours)
		}
	}
	under, err := plan.Under(rules)
	if err != nil {
		return nil, err
	}
	under.schedule.Include, under.schedule.Exclude, under.schedule.OnExcluded = s.Include, s.Exclude, s.OnExcluded
	return under, nil
}

func (z *Zones) content(field, name string, pinned []job.PinnedCalendar) (*Hours, error) {
	for _, c := range pinned {
		if c.Name == name {
			return z.compileCalendar(c.Calendar)
		}
	}
	return nil, withCode(job.CodeInvalid, withFix(refuse(field, name, "", "the content of calendar %s is not known here", quote(name)), "ask the service, which keeps calendars"))
}

// OfRevision is the plan of a revision: its schedule under the calendars that it
// pinned.
func OfRevision(rev *job.Revision) (*Plan, error) { return (*Zones)(nil).OfRevision(rev) }

// OfRevision is the package's OfRevision with the zones of this database.
func (z *Zones) OfRevision(rev *job.Revision) (*Plan, error) {
	return z.CompileUnder(rev.Definition.Schedule, rev.Anchor, rev.Calendars)
}

// OfHead is the plan of a job as it is now. revision reads the head's revision; it
// is asked only when the schedule names calendars, whose content the head does not
// carry. Its error is returned as it is; a revision that is absent is a fault, and
// no refusal of the schedule.
func OfHead(head *job.Head, revision func() (*job.Revision, error)) (*Plan, error) {
	return (*Zones)(nil).OfHead(head, revision)
}

// OfHead is the package's OfHead with the zones of this database.
func (z *Zones) OfHead(head *job.Head, revision func() (*job.Revision, error)) (*Plan, error) {
	if len(head.Schedule.Include)+len(head.Schedule.Exclude) == 0 {
		return z.Compile(head.Schedule, head.Anchor)
	}
	rev, err := revision()
	if err != nil {
		return nil, err
	}
	if rev == nil {
		return nil, &job.Error{Code: job.CodeInternal, Field: "revision", Value: head.Ref.String(), Message: "the revision that holds the job's calendars is not there"}
	}
	return z.CompileUnder(head.Schedule, head.Anchor, rev.Calendars)
}
