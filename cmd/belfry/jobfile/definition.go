package jobfile

import (
	"github.com/goccy/go-yaml/ast"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// document reads one item of a file: a job, or a calendar.
func (r *reader) document(n ast.Node) candidate {
	r.lines, r.kind = map[string]int{}, "job"
	before := len(r.faults)
	c := candidate{Entry: Entry{File: r.file, Line: max(lineOf(firstKey(n)), 1), lines: r.lines}}
	r.mappingBy("", n, func(pairs []pair) keys {
		if r.only == "calendar" || isCalendar(pairs) {
			r.kind, c.calendar = "calendar", &Calendar{File: c.File, Line: c.Line, lines: r.lines}
			return r.calendar(&c.calendar.Content)
		}
		return r.job(&c.Definition, pairs)
	})
	c.sound = len(r.faults) == before
	return c
}

func (r *reader) job(d *job.Definition, pairs []pair) keys {
	known := keys{
		"job":            text(r, &d.Job),
		"schedule":       r.schedule(&d.Schedule),
		"target":         r.target(&d.Target),
		"pool":           word(r, &d.Pool),
		"type":           word(r, &d.Type),
		"priority":       word(r, &d.Priority),
		"payload":        r.payload(&d.Payload),
		"payload_ref":    word(r, &d.PayloadRef),
		"template":       r.truth(&d.Template),
		"timeout":        positive(r, &d.Timeout, r.duration(&d.Timeout)),
		"start_deadline": positive(r, &d.StartDeadline, r.duration(&d.StartDeadline)),
		"retry":          r.retry(&d.Retry),
		"concurrency":    r.unbuilt("a concurrency other than ALLOW", isText, text(r, &d.Concurrency)),
		"on_resume":      word(r, &d.OnResume),
		"misfire":        r.misfire(&d.Misfire),
		"suspend_after":  r.number(&d.SuspendAfter),
		"limits":         r.unbuilt("a limit", isList, r.list(&d.Limits)),
		"labels":         r.texts(&d.Labels),
		"description":    text(r, &d.Description),
		"paused":         r.truth(&d.Paused),
	}
	if holds(pairs, "job") && holds(pairs, "calendar") {
		known["calendar"] = r.misplacedCalendar
	}
	return known
}

// firstKey is the node whose line a person takes for the beginning of n: a
// mapping's own token is the colon of its first pair.
func firstKey(n ast.Node) ast.Node {
	switch n := n.(type) {
	case *ast.AnchorNode:
		return firstKey(n.Value)
	case *ast.MappingNode:
		if len(n.Values) > 0 {
			return n.Values[0].Key
		}
	case *ast.MappingValueNode:
		return n.Key
	}
	return n
}

func (r *reader) schedule(s *job.Schedule) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		r.mapping(path, n, keys{
			"cron": text(r, &s.Cron), "every": positive(r, &s.Every, r.duration(&s.Every)), "at": r.instant(&s.At), "dialect": word(r, &s.Dialect), "zone": word(r, &s.Zone),
			"gap": word(r, &s.Gap), "overlap": word(r, &s.Overlap), "start": r.instant(&s.Start), "end": r.instant(&s.End), "jitter": r.duration(&s.Jitter),
			"include": r.list(&s.Include), "exclude": r.list(&s.Exclude), "on_excluded": word(r, &s.OnExcluded),
		})
	}
}

func (r *reader) retry(v *job.Retry) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		r.mapping(path, n, keys{
			"max_attempts": positive(r, &v.MaxAttempts, r.number(&v.MaxAttempts)),
			"base":         positive(r, &v.Base, r.duration(&v.Base)),
			"max":          positive(r, &v.Max, r.duration(&v.Max)),
			"max_age":      positive(r, &v.MaxAge, r.duration(&v.MaxAge)),
			"max_lost":     positive(r, &v.MaxLost, r.number(&v.MaxLost)),
			"max_run":      positive(r, &v.MaxRun, r.duration(&v.MaxRun)),
		})
	}
}

// misfire reads a policy's name alone, or the whole object.
func (r *reader) misfire(m **job.Misfire) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		r.scalar(n, func(v ast.Node) {
			*m = &job.Misfire{}
			if name, isText := plain(v); isText {
				(*m).Policy = job.MisfirePolicy(name)
				return
			}
			r.mapping(path, v, keys{
				"policy":    word(r, &(*m).Policy),
				"window":    positive(r, &(*m).Window, r.duration(&(*m).Window)),
				"max":       positive(r, &(*m).Max, r.number(&(*m).Max)),
				"rate":      positive(r, &(*m).Rate, r.decimal(&(*m).Rate)),
				"tolerance": positive(r, &(*m).Tolerance, r.duration(&(*m).Tolerance)),
			})
		})
	}
}

// check holds a definition of sound form against the service's own rules.
func (r *reader) check(e *Entry) {
	d := e.Definition.WithDefaults()
	broken := d.Validate()
	if broken != nil {
		r.refuseEntry(e, broken)
	}
	if job.CodeOf(broken) == job.CodeScheduleInvalid {
		return
	}
	if _, err := schedule.Compile(d.Schedule.Bare(), r.now); err != nil && !sameFault(broken, err) {
		r.refuseEntry(e, err)
	}
}

func (r *reader) refuseEntry(e *Entry, err error) {
	refusal := asJobError(err)
	r.refuseAt(e.LineOf(refusal.Field), refusal)
}

// sameFault reports whether both rules met the same feature that is not built.
func sameFault(a, b error) bool {
	return a != nil && job.CodeOf(a) == job.CodeNotSupported && job.CodeOf(b) == job.CodeNotSupported
}
