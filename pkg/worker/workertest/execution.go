package workertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// Execution is what became of an execution, read from the table.
type Execution struct {
	ID        string
	Status    job.Status
	Reason    job.Reason
	ErrorCode string // of the last error; empty = none
	ErrorText string
	Attempts  []Attempted
	Took      time.Duration // from when it was asked for to its end, or to now

	ref job.Ref
	key job.Key
}

// Attempted is one attempt of an execution.
type Attempted struct {
	Number  int
	Token   int64
	Worker  string        // that ran it, such as worker-1
	Waited  time.Duration // from the end of the attempt before, or from when it was asked for
	Took    time.Duration // zero while it runs, and when its worker was lost
	Outcome job.Status    // what it led to; RUNNING while it runs, and of one that was taken over
	Code    string        // of its error; LEASE_LOST when its worker was lost
	Lost    bool          // its worker was lost: a later attempt took over
}

// String is the execution in a line, for messages of tests.
func (e Execution) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s after %d attempts", e.Status, len(e.Attempts))
	for _, a := range e.Attempts {
		fmt.Fprintf(&b, "; %d on %s after %v: %s %s", a.Number, a.Worker, a.Waited, a.Outcome, a.Code)
	}
	if e.ErrorText != "" {
		fmt.Fprintf(&b, " (%s)", e.ErrorText)
	}
	return b.String()
}

// Option changes the job that a run is of.
type Option func(*job.Definition)

// With changes the job's definition: retry, timeout and whatever else the handler's
// job will say.
func With(change func(d *job.Definition)) Option { return change }

// Retry sets how often and how long the job is tried again.
func Retry(r job.Retry) Option { return func(d *job.Definition) { d.Retry = r } }

// Timeout bounds each attempt.
func Timeout(t time.Duration) Option {
	return func(d *job.Definition) { d.Timeout = job.Duration(t) }
}

// PayloadRef lets the payload lie in the bucket; the payload given to Run is nil then.
func PayloadRef(ref string) Option { return func(d *job.Definition) { d.PayloadRef = ref } }

// Run makes a job for the handler, runs it once, and waits for the end: a status that
// is final, or NEEDS_REVIEW. payload is encoded as JSON; a json.RawMessage or a
// []byte is taken as it is, nil is none.
func (b *Bench) Run(handler string, payload any, options ...Option) Execution {
	return b.Wait(b.Start(handler, payload, options...))
}

// Start is Run without the wait: the execution has been asked for, and runs as time
// goes on.
func (b *Bench) Start(handler string, payload any, options ...Option) Execution {
	b.jobs++
	d := job.Definition{Job: fmt.Sprintf("%s.%d", handler, b.jobs), Schedule: job.Schedule{At: b.Now().AddDate(50, 0, 0).Truncate(time.Second)}, Pool: Pool,
		Target: job.Target{Handler: &job.HandlerTarget{Name: handler}}}
	switch given := payload.(type) {
	case nil:
	case []byte:
		d.Payload = given
	default:
		encoded, err := json.Marshal(given)
		b.must("encode the payload", err)
		d.Payload = encoded
	}
	for _, change := range options {
		change(&d)
	}
	ref := job.Ref{Tenant: job.DefaultTenant, Job: d.Job}
	_, err := b.planes.Control.Put(b.ctx, control.PutRequest{Ref: ref, Definition: d, Actor: "workertest"})
	b.must("make the job", err)
	e, err := b.planes.Control.RunNow(b.ctx, control.RunRequest{Ref: ref, Actor: "workertest"})
	b.must("run the job", err)
	return b.read(ref, e.Key)
}

// longest is how long a bench waits for an execution: longer than any retry goes on.
const longest = 30 * 24 * time.Hour

// Wait lets time pass until the execution has come to its end.
func (b *Bench) Wait(e Execution) Execution {
	for from, until := b.Now(), b.Now().Add(longest); ; b.Advance(min(max(b.Now().Sub(from)/20, 100*time.Millisecond), time.Minute)) {
		now := b.Look(e)
		if lifecycle.Terminal(now.Status) || now.Status == job.NeedsReview {
			return now
		}
		if b.Now().After(until) {
			b.fail("workertest: after %v the execution has not ended: %v", longest, now)
		}
	}
}

// Look reads the execution as it is now.
func (b *Bench) Look(e Execution) Execution { return b.read(e.ref, e.key) }

// Cancel asks for the end of an execution, as a person does.
func (b *Bench) Cancel(e Execution) Execution {
	_, err := b.planes.Control.Cancel(b.ctx, e.ref, e.key, "workertest")
	b.must("cancel", err)
	return b.Look(e)
}

// Replay repeats a dead letter, and waits for the replay's end.
func (b *Bench) Replay(e Execution) Execution {
	made, err := b.planes.Control.Replay(b.ctx, control.ReplayRequest{Ref: e.ref, Key: e.key, Actor: "workertest"})
	b.must("replay", err)
	return b.Wait(b.read(made.Ref, made.Key))
}

// Store puts a payload into the bench's bucket, in place of what has that name there,
// and tells its reference for PayloadRef.
func (b *Bench) Store(name string, content []byte) (ref string) {
	_, err := b.s3.PutObject(b.ctx, &s3.PutObjectInput{Bucket: aws.String(Bucket), Key: &name, Body: bytes.NewReader(content)})
	b.must("store "+name, err)
	return "s3://" + Bucket + "/" + name
}

func (b *Bench) read(ref job.Ref, key job.Key) Execution {
	e, err := b.planes.Store.Execution(b.ctx, ref, key)
	b.must("read the execution", err)
	if e == nil {
		b.fail("workertest: the execution %s of %s is gone", key, ref)
	}
	out := Execution{ID: e.ID(), Status: e.Status, Reason: e.Reason, ErrorCode: e.ErrorCode, ErrorText: e.ErrorText, ref: ref, key: key, Took: b.Now().Sub(e.CreatedAt)}
	if !e.FinishedAt.IsZero() {
		out.Took = e.FinishedAt.Sub(e.CreatedAt)
	}
	out.Attempts = b.notes.of(e)
	return out
}
