package job

import (
	"encoding/json"
	"strings"
	"time"
)

// Defaults of a definition. A value left out takes these.
const (
	DefaultTenant       = "default"
	DefaultPool         = "fast-io"
	DefaultZone         = "UTC"
	DefaultTimeout      = Duration(60 * time.Second)
	DefaultMaxAttempts  = 5
	DefaultRetryBase    = Duration(time.Second)
	DefaultRetryMax     = Duration(5 * time.Minute)
	DefaultRetryMaxAge  = Duration(24 * time.Hour)
	DefaultMaxLost      = 3
	DefaultTolerance    = Duration(60 * time.Second)
	DefaultMisfireMax   = 1000
	DefaultCatchUpLimit = Duration(24 * time.Hour) // window of a job without any misfire key
)

// Bounds of a definition.
const (
	MaxPayload     = 32 << 10 // bytes
	MaxDescription = 1000     // characters; of a log target's message too
	MaxLabels      = 20
	MaxTimeout     = Duration(12 * time.Hour)
	MaxJitter      = Duration(10 * time.Minute) // with the trigger's horizon, what a message can be delayed by

	MaxSuspendAfter  = 100
	MaxStartDeadline = Duration(30 * 24 * time.Hour)
)

// Definition is what a person writes: the content of one immutable revision.
type Definition struct {
	Job      string          `json:"job"`
	Schedule Schedule        `json:"schedule"`
	Target   Target          `json:"target"`
	Pool     string          `json:"pool,omitempty"`
	Type     string          `json:"type,omitempty"`
	Priority string          `json:"priority,omitempty"`
	Payload  json.RawMessage `json:"payload,omitempty"`
	// PayloadRef is where the payload lies when it is not written out, s3://bucket/key.
	// What an execution's first attempt finds there is what all of them get.
	PayloadRef string `json:"payload_ref,omitempty"`
	// Template says that {{ … }} in the payload and in texts of the target is filled
	// in at each attempt (Rendered). False: braces are braces.
	Template bool     `json:"template,omitempty"`
	Timeout  Duration `json:"timeout,omitzero"`
	// StartDeadline is how late a first attempt may begin, counted from the
	// scheduled time, or from when an execution was made that was made later. What no
	// worker takes before is MISSED. Zero: it waits for ever.
	StartDeadline Duration          `json:"start_deadline,omitzero"`
	Retry         Retry             `json:"retry,omitzero"`
	Concurrency   Concurrency       `json:"concurrency,omitempty"`
	OnResume      OnResume          `json:"on_resume,omitempty"`
	Misfire       *Misfire          `json:"misfire,omitempty"`
	SuspendAfter  int               `json:"suspend_after,omitempty"`
	Limits        []string          `json:"limits,omitempty"`
	Labels        map[string]string `json:"labels,omitempty"`
	Description   string            `json:"description,omitempty"`
	Paused        bool              `json:"paused,omitempty"`
}

// WithDefaults returns d with every value that it leaves out filled in. The
// result describes the same job completely; applying it twice changes nothing.
func (d Definition) WithDefaults() Definition {
	fill(&d.Schedule.Zone, DefaultZone)
	fill(&d.Pool, DefaultPool)
	fill(&d.Priority, "normal")
	fill(&d.Timeout, DefaultTimeout)
	fill(&d.Concurrency, ConcurrencyAllow)
	fill(&d.Retry.MaxAttempts, DefaultMaxAttempts)
	fill(&d.Retry.Base, DefaultRetryBase)
	fill(&d.Retry.Max, DefaultRetryMax)
	fill(&d.Retry.MaxAge, DefaultRetryMaxAge)
	fill(&d.Retry.MaxLost, DefaultMaxLost)
	// Six or seven fields have no default: each dialect reads them otherwise.
	if n := len(strings.Fields(d.Schedule.Cron)); n != 0 && n != 6 && n != 7 {
		fill(&d.Schedule.Dialect, DialectUnix)
	}
	if d.Misfire == nil {
		d.Misfire = &Misfire{Policy: MisfireFireOnce, Window: DefaultCatchUpLimit}
	} else {
		copied := *d.Misfire
		d.Misfire = &copied
	}
	fill(&d.OnResume, ResumeFromNow)
	fill(&d.Misfire.Policy, MisfireFireOnce)
	fill(&d.Misfire.Tolerance, DefaultTolerance)
	fill(&d.Misfire.Max, DefaultMisfireMax)
	return d
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
