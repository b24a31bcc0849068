package queue

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// ErrNewerSchema says that a message was written by a newer build. Its bearer
// hides it until a build that can read it takes over, and never deletes it or
// lets it be dead-lettered.
var ErrNewerSchema = errors.New("the message was written by a newer version of Belfry")

// MalformedError says that a message is none of Belfry's.
type MalformedError struct {
	Why  string
	Body string // shortened
}

// Error tells what is wrong, and the start of the body.
func (e *MalformedError) Error() string {
	return fmt.Sprintf("the message is not one of Belfry's: %s (it begins with %q)", e.Why, e.Body)
}

func malformed(body, why string) error { return &MalformedError{Why: why, Body: job.Shorten(body)} }

// Envelope is the content of a work message: a pointer to one execution.
type Envelope struct {
	Schema       int       `json:"schema"`
	Tenant       string    `json:"tenant"`
	Job          string    `json:"job"`
	Key          string    `json:"key"`
	Epoch        int64     `json:"epoch"` // absent = 0
	RestoreEpoch int64     `json:"restore_epoch,omitzero"`
	NotBefore    time.Time `json:"not_before,omitzero"`   // when the execution is due or available again
	Traceparent  string    `json:"traceparent,omitempty"` // W3C trace context of the sender
}

// Seal writes the envelope of a parcel.
func Seal(p job.Parcel) string {
	e := Envelope{Schema: job.Schema, Tenant: p.Ref.Tenant, Job: p.Ref.Job, Key: p.Key.String(), Epoch: p.Epoch,
		RestoreEpoch: p.RestoreEpoch, NotBefore: p.NotBefore.UTC()}
	body, err := json.Marshal(e)
	if err != nil { // only a year beyond 9999, which no schedule reaches
		e.NotBefore = time.Time{}
		body, _ = json.Marshal(e)
	}
	return string(body)
}

// Work is an opened work message. Receives and Isolated of the Message are the
// receiver's to fill in.
type Work struct {
	Message     lifecycle.Message
	NotBefore   time.Time
	Traceparent string
}

// Open reads a work message. Fields that this build does not know are passed
// over. The error is ErrNewerSchema or a *MalformedError.
func Open(body string) (Work, error) {
	var e Envelope
	if err := open(body, &e); err != nil {
		return Work{}, err
	}
	if job.CheckName("tenant", e.Tenant) != nil || job.CheckName("job", e.Job) != nil {
		return Work{}, malformed(body, "tenant or job is no name")
	}
	key, err := job.ParseKey(e.Key)
	if err != nil || key.Kind == job.KindRange {
		return Work{}, malformed(body, "key is no execution's key")
	}
	if e.Epoch < 0 || e.RestoreEpoch < 0 {
		return Work{}, malformed(body, "an epoch is negative")
	}
	m := lifecycle.Message{Ref: job.Ref{Tenant: e.Tenant, Job: e.Job}, Key: key, Epoch: e.Epoch, RestoreEpoch: e.RestoreEpoch}
	return Work{Message: m, NotBefore: e.NotBefore.UTC(), Traceparent: e.Traceparent}, nil
}

// open decodes body into v after a look at its schema alone: what a newer
// build wrote need not fit the fields of this one.
func open(body string, v any) error {
	var first struct {
		Schema *int `json:"schema"`
	}
	if err := json.Unmarshal([]byte(body), &first); err != nil {
		return malformed(body, "it is not a JSON object with a numeric schema")
	}
	switch {
	case first.Schema == nil || *first.Schema < 1:
		return malformed(body, "it has no schema")
	case *first.Schema > job.Schema:
		return fmt.Errorf("schema %d, this build reads up to %d: %w", *first.Schema, job.Schema, ErrNewerSchema)
	}
	if err := json.Unmarshal([]byte(body), v); err != nil {
		return malformed(body, err.Error())
	}
	return nil
}

// ScanMessage is one range of shards to be scanned for one minute.
type ScanMessage struct {
	Schema     int       `json:"schema"` // filled in by SendScans
	Generation int       `json:"generation"`
	From       int       `json:"from"` // first shard
	To         int       `json:"to"`   // last shard, inclusive
	Minute     time.Time `json:"minute"`
	SentAt     time.Time `json:"sent_at"`
}

// OpenScan reads a scan message; errors as Open.
func OpenScan(body string) (ScanMessage, error) {
	var m ScanMessage
	if err := open(body, &m); err != nil {
		return ScanMessage{}, err
	}
	if m.From < 0 || m.To < m.From || m.Minute.IsZero() || m.SentAt.IsZero() {
		return ScanMessage{}, malformed(body, "it names no range of shards and minute")
	}
	return m, nil
}

// TickMessage asks for the tick of a minute.
type TickMessage struct {
	Schema int       `json:"schema"` // filled in by SendTick
	Minute time.Time `json:"minute"`
}

// OpenTick reads a tick message; errors as Open.
func OpenTick(body string) (TickMessage, error) {
	var m TickMessage
	if err := open(body, &m); err != nil {
		return TickMessage{}, err
	}
	if m.Minute.IsZero() {
		return TickMessage{}, malformed(body, "it names no minute")
	}
	return m, nil
}
