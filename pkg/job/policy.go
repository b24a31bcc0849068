package job

import (
	"bytes"
	"encoding/json"
	"time"
)

// Dialect names a cron grammar. Empty means unix for five fields.
type Dialect string

// The dialects. Fields and meaning: docs/schedules.md.
const (
	DialectUnix     Dialect = "unix"
	DialectQuartz   Dialect = "quartz"
	DialectAWS      Dialect = "aws"
	DialectCronexpr Dialect = "cronexpr"
)

// GapPolicy says what becomes of a wall-clock time that does not exist because
// clocks went forward. Empty: the default of the schedule's kind.
type GapPolicy string

// SKIP drops the time; SHIFT_FORWARD fires at the first instant after the gap.
const (
	GapSkip         GapPolicy = "SKIP"
	GapShiftForward GapPolicy = "SHIFT_FORWARD"
)

// OverlapPolicy says what becomes of a wall-clock time that exists twice
// because clocks went back. Empty: the default of the schedule's kind.
type OverlapPolicy string

// FIRST and SECOND choose one of the two instants, BOTH fires at each.
const (
	OverlapFirst  OverlapPolicy = "FIRST"
	OverlapSecond OverlapPolicy = "SECOND"
	OverlapBoth   OverlapPolicy = "BOTH"
)

// Schedule says when a job is due. Exactly one of Cron, Every and At is set.
type Schedule struct {
	Cron    string        `json:"cron,omitempty"`
	Every   Duration      `json:"every,omitzero"`
	At      time.Time     `json:"at,omitzero"`
	Dialect Dialect       `json:"dialect,omitempty"`
	Zone    string        `json:"zone,omitempty"` // IANA name; empty = UTC
	Gap     GapPolicy     `json:"gap,omitempty"`
	Overlap OverlapPolicy `json:"overlap,omitempty"`
	Start   time.Time     `json:"start,omitzero"`  // inclusive; zero = no bound
	End     time.Time     `json:"end,omitzero"`    // inclusive; zero = no bound
	Jitter  Duration      `json:"jitter,omitzero"` // zero = exact

	Include    []string   `json:"include,omitempty"` // calendars to whose times it keeps
	Exclude    []string   `json:"exclude,omitempty"` // calendars whose times are left out
	OnExcluded OnExcluded `json:"on_excluded,omitempty"`
}

// MisfirePolicy says what becomes of times that are later than the tolerance.
type MisfirePolicy string

// SKIP runs none, FIRE_ONCE the latest, FIRE_ALL each, COALESCE one that
// carries the whole range.
const (
	MisfireSkip     MisfirePolicy = "SKIP"
	MisfireFireOnce MisfirePolicy = "FIRE_ONCE"
	MisfireFireAll  MisfirePolicy = "FIRE_ALL"
	MisfireCoalesce MisfirePolicy = "COALESCE"
)

// Misfire bounds catching up. In a planner zero means "no bound" for Window
// and Max and "at once" for Tolerance; job defaults are filled in before.
type Misfire struct {
	Policy    MisfirePolicy `json:"policy"`
	Window    Duration      `json:"window,omitzero"`    // oldest age that may still fire
	Max       int           `json:"max,omitempty"`      // most executions, the latest are kept
	Rate      float64       `json:"rate,omitempty"`     // executions per second while catching up, with FIRE_ALL; 0 = all at once
	Tolerance Duration      `json:"tolerance,omitzero"` // lateness that is still on time
}

// Concurrency says what two executions of one job may do at once.
type Concurrency string

// The concurrency policies, decided at the claim of the due time.
const (
	ConcurrencyAllow     Concurrency = "ALLOW"
	ConcurrencyForbid    Concurrency = "FORBID"
	ConcurrencySerialize Concurrency = "SERIALIZE"
	ConcurrencyReplace   Concurrency = "REPLACE"
)

// OnResume says what becomes of the times that fell into a pause.
type OnResume string

// The policies of a resume. FROM_NOW: they are passed over. CATCH_UP: they are late,
// and the misfire policy decides.
const (
	ResumeFromNow OnResume = "FROM_NOW"
	ResumeCatchUp OnResume = "CATCH_UP"
)

// Retry bounds how often and how long an execution is tried again.
type Retry struct {
	MaxAttempts int      `json:"max_attempts,omitempty"` // attempts that ended with an answer; default 5
	Base        Duration `json:"base,omitzero"`          // first wait; default 1 s
	Max         Duration `json:"max,omitzero"`           // longest wait; default 5 min
	MaxAge      Duration `json:"max_age,omitzero"`       // from the start of the first attempt; default 24 h
	MaxLost     int      `json:"max_lost,omitempty"`     // attempts whose worker was lost; default 3
	MaxRun      Duration `json:"max_run,omitzero"`       // of all attempts together; zero = no bound beyond the others
}

// misfireFields is Misfire without its methods, for the object form.
type misfireFields Misfire

// UnmarshalJSON reads the object form or, as a shorthand, the policy's name
// alone. Unknown keys are refused.
func (m *Misfire) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &m.Policy)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	return decoder.Decode((*misfireFields)(m))
}
