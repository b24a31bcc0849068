package httpapi

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// Definition is a job's definition as a request carries it: job.Definition with
// durations and times still as text, so that each error names its field.
type Definition struct {
	_ struct{} `additionalProperties:"false"`

	Job           string            `json:"job,omitempty" doc:"Name; may be left out, since the path says it" example:"nightly"`
	Schedule      Schedule          `json:"schedule" doc:"When the job is due"`
	Target        Target            `json:"target" doc:"What an execution does"`
	Pool          string            `json:"pool,omitempty" minLength:"1" doc:"Pool whose workers run it; default fast-io"`
	Type          string            `json:"type,omitempty" minLength:"1" doc:"One of the types that the installation lists in its settings; figures are split by it. Default: none"`
	Priority      string            `json:"priority,omitempty" minLength:"1" doc:"Only normal is built yet"`
	Payload       json.RawMessage   `json:"payload,omitempty" doc:"Any JSON value up to 32 KB, handed to the target"`
	PayloadRef    string            `json:"payload_ref,omitempty" minLength:"1" doc:"Where a larger payload lies, s3://bucket/key, up to 16 MiB; POST /v1/payloads gives one a place. What an execution's first attempt finds there is what all of its attempts get. Only with the targets handler, webhook and log" example:"s3://acme-input/daily.json"`
	Template      bool              `json:"template,omitempty" doc:"True: templates such as {{ scheduled_time | date '%Y-%m-%d' }} in the payload and in texts of the target are filled in at each attempt. Default: braces are braces"`
	Timeout       string            `json:"timeout,omitempty" minLength:"1" doc:"Longest attempt; default 60s" example:"60s"`
	StartDeadline string            `json:"start_deadline,omitempty" minLength:"1" doc:"How late a first attempt may begin, from the scheduled time or from when it was made, if that was later; what no worker takes before is MISSED. Default: no deadline" example:"2h"`
	Retry         Retry             `json:"retry,omitzero" doc:"How often and how long an execution is tried again"`
	Concurrency   string            `json:"concurrency,omitempty" minLength:"1" doc:"Only ALLOW is built yet"`
	OnResume      string            `json:"on_resume,omitempty" minLength:"1" doc:"FROM_NOW or CATCH_UP: whether times that fell into a pause are passed over (the default), or left to the misfire policy"`
	Misfire       *Misfire          `json:"misfire,omitempty" doc:"What becomes of times that are late; default FIRE_ONCE within 24 h"`
	SuspendAfter  int               `json:"suspend_after,omitempty" minimum:"1" maximum:"100" doc:"Failures in a row (FAILED or DEAD) after which the job is SUSPENDED until somebody resumes it; default: never"`
	Limits        []string          `json:"limits,omitempty" nullable:"false" doc:"Not built yet"`
	Labels        map[string]string `json:"labels,omitempty" doc:"Up to 20 free labels"`
	Description   string            `json:"description,omitempty" doc:"Up to 1000 characters for people"`
	Paused        bool              `json:"paused,omitempty" doc:"True: the job is made, and has no executions until it is resumed"`
}

// Schedule is job.Schedule with its times as text.
type Schedule struct {
	_ struct{} `additionalProperties:"false"`

	Cron    string `json:"cron,omitempty" minLength:"1" doc:"Cron expression; exactly one of cron, every and at" example:"30 3 * * *"`
	Every   string `json:"every,omitempty" minLength:"1" doc:"Interval in whole seconds, at least 1s" example:"10s"`
	At      string `json:"at,omitempty" minLength:"1" doc:"One time, RFC 3339"`
	Dialect string `json:"dialect,omitempty" minLength:"1" doc:"Grammar of cron: unix, quartz, aws or cronexpr; default unix for five fields, six and seven need one"`
	Zone    string `json:"zone,omitempty" minLength:"1" doc:"IANA time zone; default UTC" example:"Europe/Berlin"`
	Gap     string `json:"gap,omitempty" minLength:"1" doc:"SKIP or SHIFT_FORWARD: what becomes of a wall-clock time that does not exist"`
	Overlap string `json:"overlap,omitempty" minLength:"1" doc:"FIRST, SECOND or BOTH: what becomes of a wall-clock time that exists twice"`
	Start   string `json:"start,omitempty" minLength:"1" doc:"No time before this RFC 3339 instant"`
	End     string `json:"end,omitempty" minLength:"1" doc:"No time after this RFC 3339 instant"`
	Jitter  string `json:"jitter,omitempty" minLength:"1" doc:"Width over which jobs of one second spread, up to 10m: each starts later by a slot of its own, the same each time" example:"5m"`

	Include    []string `json:"include,omitempty" nullable:"false" doc:"Calendars to whose times the schedule keeps; with exclude up to 5"`
	Exclude    []string `json:"exclude,omitempty" nullable:"false" doc:"Calendars whose times are left out"`
	OnExcluded string   `json:"on_excluded,omitempty" minLength:"1" doc:"SKIP (default), NEXT_BUSINESS_DAY or PREVIOUS_BUSINESS_DAY: what becomes of a time that calendars exclude"`
}

// Retry is job.Retry with its durations as text.
type Retry struct {
	_ struct{} `additionalProperties:"false"`

	MaxAttempts int    `json:"max_attempts,omitempty" minimum:"1" doc:"Attempts that ended with an answer; default 5"`
	Base        string `json:"base,omitempty" minLength:"1" doc:"First wait; default 1s"`
	Max         string `json:"max,omitempty" minLength:"1" doc:"Longest wait; default 5m"`
	MaxAge      string `json:"max_age,omitempty" minLength:"1" doc:"From the start of the first attempt; default 1d"`
	MaxLost     int    `json:"max_lost,omitempty" minimum:"1" doc:"Attempts whose worker was lost; default 3"`
	MaxRun      string `json:"max_run,omitempty" doc:"Running time of all attempts together; default none"`
}

// Misfire is job.Misfire with its durations as text.
type Misfire struct {
	_ struct{} `additionalProperties:"false"`

	Policy    string  `json:"policy,omitempty" minLength:"1" doc:"SKIP, FIRE_ONCE, FIRE_ALL or COALESCE; default FIRE_ONCE"`
	Window    string  `json:"window,omitempty" minLength:"1" doc:"Oldest age that may still fire; none = no bound"`
	Max       int     `json:"max,omitempty" minimum:"1" doc:"Most executions of one catching up; default 1000"`
	Rate      float64 `json:"rate,omitempty" minimum:"0.001" maximum:"10" doc:"With FIRE_ALL: executions a second at most, which a backfill then makes; none = all at once"`
	Tolerance string  `json:"tolerance,omitempty" minLength:"1" doc:"Lateness that is still on time; default 60s"`
}

// reading gathers what is wrong while texts become durations and times.
type reading struct{ wrong faults }

func (r *reading) duration(field, text string) job.Duration {
	if text == "" {
		return 0
	}
	d, err := job.ParseDuration(text)
	r.note(field, err)
	return d
}

// positive reads a duration that may be left out and may not be 0, which would
// be taken for left out.
func (r *reading) positive(field, text string) job.Duration {
	before := len(r.wrong)
	d := r.duration(field, text)
	if text != "" && d == 0 && len(r.wrong) == before {
		r.note(field, &job.Error{Code: job.CodeInvalid, Value: job.Shorten(text), Bound: "more than 0", Message: "0 is not possible here", Fix: "leave it out for the default"})
	}
	return d
}

func (r *reading) instant(field, text string) time.Time {
	if text == "" {
		return time.Time{}
	}
	at, err := schedule.ParseTime(field, text)
	r.note(field, err)
	return at
}

func (r *reading) note(field string, err error) {
	if err == nil {
		return
	}
	var known *job.Error
	if !errors.As(err, &known) {
		known = &job.Error{Code: job.CodeInvalid, Message: err.Error()}
	}
	known.Field = field
	r.wrong = append(r.wrong, known)
}

func (r *reading) err() error {
	if len(r.wrong) == 0 {
		return nil
	}
	return r.wrong
}

func (r *reading) schedule(prefix string, s Schedule) job.Schedule {
	return job.Schedule{
		Cron: s.Cron, Every: r.positive(prefix+"every", s.Every), At: r.instant(prefix+"at", s.At),
		Dialect: job.Dialect(s.Dialect), Zone: s.Zone, Gap: job.GapPolicy(s.Gap), Overlap: job.OverlapPolicy(s.Overlap),
		Start: r.instant(prefix+"start", s.Start), End: r.instant(prefix+"end", s.End), Jitter: r.duration(prefix+"jitter", s.Jitter),
		Include: s.Include, Exclude: s.Exclude, OnExcluded: job.OnExcluded(s.OnExcluded),
	}
}

// definition reads the whole; every text that does not read is told at once.
func (d Definition) definition() (job.Definition, error) {
	var r reading
	out := job.Definition{
		Job: d.Job, Schedule: r.schedule("schedule.", d.Schedule), Target: d.Target.target(), Pool: d.Pool, Type: d.Type, Priority: d.Priority,
		Payload: d.Payload, PayloadRef: d.PayloadRef, Template: d.Template, Timeout: r.positive("timeout", d.Timeout), StartDeadline: r.positive("start_deadline", d.StartDeadline), Concurrency: job.Concurrency(d.Concurrency), OnResume: job.OnResume(d.OnResume),
		Retry: job.Retry{MaxAttempts: d.Retry.MaxAttempts, Base: r.positive("retry.base", d.Retry.Base), Max: r.positive("retry.max", d.Retry.Max),
			MaxAge: r.positive("retry.max_age", d.Retry.MaxAge), MaxLost: d.Retry.MaxLost, MaxRun: r.positive("retry.max_run", d.Retry.MaxRun)},
		SuspendAfter: d.SuspendAfter, Limits: d.Limits, Labels: d.Labels, Description: d.Description, Paused: d.Paused,
	}
	if m := d.Misfire; m != nil {
		out.Misfire = &job.Misfire{Policy: job.MisfirePolicy(m.Policy), Window: r.positive("misfire.window", m.Window), Max: m.Max, Rate: m.Rate,
			Tolerance: r.positive("misfire.tolerance", m.Tolerance)}
	}
	return out, r.err()
}
