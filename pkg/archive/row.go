package archive

import (
	"encoding/json"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Kind says what a row tells of.
type Kind string

// The kinds of rows. Each has a place of its own in the bucket.
const (
	Transition Kind = "transition" // an execution came into a state
	Audit      Kind = "audit"      // somebody changed a job
	Unread     Kind = "unread"     // a record that this build cannot read, as it came
)

// NoTenant stands in names of objects for a tenant whose name cannot be there;
// no tenant can be called so.
const NoTenant = "_"

// mostLine is how many bytes a row may have. Only records that do not read come
// near it; the image is left out of one that is larger.
const mostLine = 1 << 20

// Row is one line of an object.
type Row struct {
	ID       string // of what it tells; the same at every delivery
	Kind     Kind
	Tenant   string // as it is part of names; NoTenant when it cannot be
	Date     string // UTC day, 2006-01-02
	Sequence string // number of the record in its stream
	Line     []byte // JSON, without a line's end
}

// transition is a row of kind Transition. Its names are those of the columns in
// docs/archive.md, and so are those of the other kinds.
type transition struct {
	ID          string     `json:"id"`
	Schema      int        `json:"schema"`
	Tenant      string     `json:"tenant"`
	Job         string     `json:"job"`
	Execution   string     `json:"execution"`
	Kind        string     `json:"execution_kind"`
	ScheduledAt instant    `json:"scheduled_at"`
	Revision    int        `json:"revision"`
	Epoch       int64      `json:"epoch"`
	Pool        string     `json:"pool,omitempty"`
	Type        string     `json:"type,omitempty"`
	Target      string     `json:"target,omitempty"`
	Place       int        `json:"place"`
	At          instant    `json:"at"`
	From        job.Status `json:"from_status,omitempty"`
	To          job.Status `json:"to_status"`
	Attempt     int        `json:"attempt"`
	Token       int64      `json:"token"`
	Reason      job.Reason `json:"reason,omitempty"`
	Actor       string     `json:"actor,omitempty"`
	ErrorCode   string     `json:"error_code,omitempty"`
	ErrorText   string     `json:"error_text,omitempty"`
	AvailableAt *instant   `json:"available_at,omitempty"`
	CoversFrom  *instant   `json:"covers_from,omitempty"`
	ReplayOf    string     `json:"replay_of,omitempty"`
	RangeTo     *instant   `json:"range_to,omitempty"`
	RangeCount  int        `json:"range_count,omitempty"`
}

type audit struct {
	ID       string  `json:"id"`
	Schema   int     `json:"schema"`
	Tenant   string  `json:"tenant"`
	Job      string  `json:"job"`
	At       instant `json:"at"`
	Verb     string  `json:"verb"`
	Actor    string  `json:"actor"`
	Epoch    int64   `json:"epoch"`
	Revision int     `json:"revision"`
	// Execution is the one that the verb was about, where it was about one.
	Execution string `json:"execution,omitempty"`
	Note      string `json:"note,omitempty"`
}

// unread keeps the two images as the text of a JSON document each, in the form
// in which DynamoDB writes items.
type unread struct {
	ID     string  `json:"id"`
	Schema int     `json:"schema"`
	At     instant `json:"at"`
	Item   string  `json:"item"` // its keys, joined by a space
	Event  string  `json:"event"`
	Why    string  `json:"why"`
	Before string  `json:"before,omitempty"`
	After  string  `json:"after,omitempty"`
	Bytes  int     `json:"left_out_bytes,omitempty"` // of images that were too large to keep
}

// kindWords are what rows call the kinds of executions.
var kindWords = map[job.Kind]string{job.KindScheduled: "scheduled", job.KindManual: "manual", job.KindReplay: "replay", job.KindRange: "range", job.KindChild: "child", job.KindReduce: "reduce"}

// instant is a time as rows write it, to the millisecond, so that the order of
// texts is that of times.
type instant time.Time

// MarshalJSON writes the time as "2006-01-02T15:04:05.000Z".
func (i instant) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Time(i).UTC().Format("2006-01-02T15:04:05.000Z07:00"))
}

func known(t time.Time) *instant {
	if t.IsZero() {
		return nil
	}
	i := instant(t)
	return &i
}
