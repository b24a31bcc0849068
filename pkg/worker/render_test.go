package worker

import (
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// templated is an attempt of the job, as the plane hands it to the worker.
func templated(d job.Definition, key job.Key) *execute.Attempt {
	d.Job, d.Template = "nightly", true
	d = d.WithDefaults()
	e := &job.Execution{Ref: job.Ref{Tenant: "acme", Job: "nightly"}, Key: key, Revision: 3, Status: job.Running, Attempt: 2, FencingToken: 9}
	return &execute.Attempt{Execution: e, Definition: d, Deadline: key.ScheduledAt.Add(time.Minute)}
}

func TestTemplatesAreFilledInForTheHandlerAndNotInWhatIsStored(t *testing.T) {
	at := time.Date(2026, 7, 12, 22, 30, 0, 0, time.UTC)
	d := job.Definition{Schedule: job.Schedule{Cron: "30 0 * * *", Zone: "Europe/Berlin"}, Payload: []byte(`{"day":"{{ scheduled_time | date '%F' }}","from":"{{ interval_start | default interval_end }}","n":"{{ attempt | json }}"}`),
		Target: job.Target{Webhook: &job.Webhook{URL: "https://example.com/{{ payload.day }}?key={{ idempotency_key }}", Headers: map[string]string{"X-Token": "{{ fencing_token }}", "Authorization": "Bearer ssm:/billing/token"}}}}
	if err := templated(d, job.ScheduledKey(at)).Definition.Validate(); err != nil {
		t.Fatal(err)
	}
	run := templated(d, job.ScheduledKey(at))
	a, err := (&Worker{}).rendered(run)
	if err != nil {
		t.Fatal(err)
	}
	const payload = `{"day":"2026-07-13","from":"2026-07-11T22:30:00.000Z","n":2}`
	hook := a.Target().Webhook
	if string(a.Payload()) != payload || hook.URL != "https://example.com/2026-07-13?key=acme%2Fnightly~20260712T223000Z" || hook.Headers["X-Token"] != "9" || hook.Headers["Authorization"] != "Bearer ssm:/billing/token" {
		t.Errorf("payload %s, %+v", a.Payload(), hook)
	}
	if stored := run.Definition; stored.Target.Webhook.URL != d.Target.Webhook.URL || stored.Target.Webhook.Headers["X-Token"] != "{{ fencing_token }}" || string(stored.Payload) != string(d.Payload) {
		t.Errorf("what is stored became %+v", stored)
	}
	run.Definition.Template = false
	if a, err := (&Worker{}).rendered(run); err != nil || string(a.Payload()) != string(d.Payload) || a.Target().Webhook.URL != d.Target.Webhook.URL {
		t.Errorf("without template: true braces are no braces: %s, %v", a.Payload(), err)
	}
}

func TestWhatCannotBeFilledInFailsForGood(t *testing.T) {
	d := job.Definition{Schedule: job.Schedule{Cron: "30 0 * * *"}, Target: job.Target{Webhook: &job.Webhook{URL: "https://example.com/{{ nothing }}"}}}
	key := job.ScheduledKey(time.Date(2026, 7, 12, 0, 30, 0, 0, time.UTC))
	_, err := (&Worker{}).rendered(templated(d, key))
	if f := FailureOf(err); f == nil || f.Class != "permanent" || f.Code != CodeTemplateInvalid || !strings.Contains(f.Text, `"nothing"`) {
		t.Errorf("%+v", f)
	}
	// What was stored before a rule was there is held against it all the same.
	d.Payload = []byte(`{"v":"a\r\nX-Evil: 1"}`)
	d.Target.Webhook = &job.Webhook{URL: "https://example.com/", Headers: map[string]string{"X-A": "{{ payload.v }}"}}
	_, err = (&Worker{}).rendered(templated(d, key))
	if f := FailureOf(err); f == nil || f.Class != "permanent" || f.Code != CodeTemplateInvalid || !strings.Contains(f.Text, "X-A") {
		t.Errorf("%+v", f)
	}
}
