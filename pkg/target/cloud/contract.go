package cloud

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/target/internal/answer"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// contract is what every target is told of the execution, whatever way it is
// told: docs/targets.md has the ways side by side.
type contract struct {
	ExecutionID    string `json:"execution_id"`
	IdempotencyKey string `json:"idempotency_key"`
	Tenant         string `json:"tenant"`
	Job            string `json:"job"`
	Revision       int    `json:"revision"`
	ScheduledTime  string `json:"scheduled_time"`
	IntervalStart  string `json:"interval_start,omitempty"` // absent where there is no time before
	IntervalEnd    string `json:"interval_end"`
	Attempt        int    `json:"attempt"`
	FencingToken   int64  `json:"fencing_token"`
	Fence          string `json:"fence"`
	Deadline       string `json:"deadline"`
	Traceparent    string `json:"traceparent"`
}

// contractOf is that of an attempt; traced is the trace context of the call,
// empty when it is not recorded.
func contractOf(a *worker.Attempt, traced string) contract {
	start, end := a.Interval()
	if traced == "" {
		traced = a.Traceparent()
	}
	return contract{ExecutionID: a.ExecutionID(), IdempotencyKey: a.IdempotencyKey(), Tenant: a.Tenant(), Job: a.Job(), Revision: a.Revision(),
		ScheduledTime: answer.Stamp(a.ScheduledAt()), IntervalStart: answer.Stamp(start), IntervalEnd: answer.Stamp(end), Attempt: a.Number(), FencingToken: a.FencingToken(), Fence: a.Fence(),
		Deadline: answer.Stamp(a.Deadline()), Traceparent: traced}
}

// text is the contract as one JSON object.
func (c contract) text() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // texts and numbers
	}
	return string(text)
}

// pair is a name with its value.
type pair struct{ name, value string }

// pairs are the contract as texts, by the names of the JSON form; what is absent
// is left out.
func (c contract) pairs() []pair {
	all := []pair{{"execution_id", c.ExecutionID}, {"idempotency_key", c.IdempotencyKey}, {"tenant", c.Tenant}, {"job", c.Job},
		{"revision", strconv.Itoa(c.Revision)}, {"scheduled_time", c.ScheduledTime}, {"interval_start", c.IntervalStart}, {"interval_end", c.IntervalEnd},
		{"attempt", strconv.Itoa(c.Attempt)}, {"fencing_token", strconv.FormatInt(c.FencingToken, 10)}, {"fence", c.Fence}, {"deadline", c.Deadline}, {"traceparent", c.Traceparent}}
	kept := all[:0]
	for _, p := range all {
		if p.value != "" {
			kept = append(kept, p)
		}
	}
	return kept
}

// attributes are those of a message: all of it as JSON, and apart what
// subscriptions filter by and libraries look for. SQS takes ten attributes, of
// which five are the job's.
func (c contract) attributes(own map[string]string) []pair {
	all := []pair{{"belfry", c.text()}, {"belfry_job", c.Job}, {"belfry_tenant", c.Tenant}, {"idempotency_key", c.IdempotencyKey}, {"traceparent", c.Traceparent}}
	for name, value := range own {
		all = append(all, pair{name, value})
	}
	return all
}

// variables are those of a container.
func (c contract) variables() []pair {
	all := c.pairs()
	for i, p := range all {
		if all[i].name = strings.ToUpper("belfry_" + p.name); p.name == "traceparent" {
			all[i].name = "TRACEPARENT" // as OpenTelemetry reads it
		}
	}
	return all
}

// custom are the texts of a Lambda client context: some runtimes refuse a
// context that holds anything else.
func (c contract) custom() map[string]string {
	all := map[string]string{}
	for _, p := range c.pairs() {
		if p.name != "traceparent" {
			p.name = "belfry_" + p.name
		}
		all[p.name] = p.value
	}
	return all
}

// within is the payload, an object, with the contract beside its keys.
func (c contract) within(payload json.RawMessage) (json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	if len(payload) > 0 {
		if err := json.Unmarshal(payload, &members); err != nil {
			return nil, err
		}
	}
	members[job.EnvelopeKey] = json.RawMessage(c.text())
	return json.Marshal(members)
}

// body is the payload, or an empty object: receivers always find JSON.
func body(a *worker.Attempt) string {
	if len(a.Payload()) == 0 {
		return "{}"
	}
	return string(a.Payload())
}
