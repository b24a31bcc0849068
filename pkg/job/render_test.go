package job_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/job/template"
)

// templated changes a job whose templates count.
func templated(change func(d *job.Definition)) func(d *job.Definition) {
	return func(d *job.Definition) { d.Template = true; change(d) }
}

func payload(text string) func(d *job.Definition) {
	return templated(func(d *job.Definition) { d.Payload = []byte(text) })
}

func TestTemplatesAreRefusedWhenAJobIsSaved(t *testing.T) {
	const known = "scheduled_time, interval_start, interval_end, deadline, execution_id, idempotency_key, tenant, job, revision, attempt, fencing_token, payload"
	refuses(t, map[string]rule{
		"a name that is none":          {payload(`{"a":"{{ scheduled }}"}`), job.CodeInvalid, "payload", "scheduled", known},
		"a member that is none":        {payload(`{"a":"{{ payload.b.c }}","b":{}}`), job.CodeInvalid, "payload", "b.c", "members that the payload has"},
		"an open brace":                {payload(`{"a":"{{ job"}`), job.CodeInvalid, "payload", " job", "}}"},
		"a template in a host":         {templated(to("https://{{ tenant }}.example.com/")), job.CodeInvalid, urlField, "https://{{ tenant }}.example.com/", "templates behind the host"},
		"a template in a port":         {templated(to("https://example.com:{{ attempt }}/")), job.CodeInvalid, urlField, "https://example.com:{{ attempt }}/", "templates behind the host"},
		"a template for a whole URL":   {templated(to("{{ payload.url }}")), job.CodeInvalid, urlField, "{{ payload.url }}", "templates behind the host"},
		"a header's name that is none": {templated(header("X-A", "{{ nothing }}")), job.CodeInvalid, "target.webhook.headers.X-A", "nothing", known},
		"a header of two lines": {templated(func(d *job.Definition) {
			d.Payload = []byte(`{"v":"a\r\nX-Evil: 1"}`)
			header("X-A", "{{ payload.v }}")(d)
		}), job.CodeInvalid, "target.webhook.headers.X-A", "a\uFFFD\uFFFDX-Evil: 1", "2048 printable bytes"},
		"a header that becomes a reference": {templated(func(d *job.Definition) {
			d.Payload = []byte(`{"v":"ssm:/billing/token"}`)
			header("X-A", "Bearer {{ payload.v }}")(d)
		}), job.CodeInvalid, "target.webhook.headers.X-A", "Bearer ssm:/billing/token", "a reference that is written out"},
		"a group that becomes too long": {templated(toSQS(func(q *job.SQSTarget) { q.GroupID = "{{ tenant }}/{{ tenant }}/{{ tenant }}" })), job.CodeInvalid, "target.sqs.group_id",
			strings.Repeat("t", 63) + "/" + strings.Repeat("t", 56) + "…", "1 to 128 letters, digits and punctuation"},
		"a queue that is filled in": {templated(toSQS(func(q *job.SQSTarget) { q.QueueURL = "https://sqs.eu-west-1.amazonaws.com/111122223333/{{ job }}" })), job.CodeInvalid, "target.sqs.queue_url",
			"https://sqs.eu-west-1.amazonaws.com/111122223333/{{ job }}", "https://sqs.REGION.amazonaws.com/ACCOUNT/NAME"},
		"a detail that becomes a list": {templated(func(d *job.Definition) {
			d.Target, d.Payload = job.Target{EventBridge: aws().EventBridge}, []byte(`"{{ '[1]' | json }}"`)
		}), job.CodeInvalid, "payload", `"[1]"`, "an object"},
		"a command's part":         {templated(toECS(func(e *job.ECSTarget) { e.Containers[0].Command = []string{"x", "{{ nothing }}"} })), job.CodeInvalid, "target.ecs.containers[0].command[1]", "nothing", known},
		"a payload without an end": {payload(`{"v":"` + strings.Repeat("v", 20000) + `","a":"{{ payload.v }}{{ payload.v }}{{ payload.v }}{{ payload.v }}"}`), job.CodeInvalid, "payload", "65536", "65536 bytes"},
	})
}

func TestBracesAreBracesUnlessTheJobSaysTemplate(t *testing.T) {
	d := valid()
	d.Payload = []byte(`{"mail":"Dear {{name}}, {{#each items}}…{{/each}}","open":"{{"}`)
	d.Target.Webhook.Headers = map[string]string{"X-A": "${{ env.X }}"}
	if err := d.Validate(); err != nil {
		t.Fatal(err)
	}
	filled, err := d.Rendered(template.Facts{})
	if err != nil || string(filled.Payload) != string(d.Payload) || filled.Target.Webhook.Headers["X-A"] != "${{ env.X }}" {
		t.Errorf("%s, %v", filled.Payload, err)
	}
}

func TestValuesStayWithinTheirPartOfAURL(t *testing.T) {
	for value, want := range map[string]string{"a b": "a%20b", "../../admin": "..%2F..%2Fadmin", "..": "%2E%2E", ".": "%2E", "v1.2": "v1.2", "a/b?c=d&e#f": "a%2Fb%3Fc%3Dd%26e%23f", "ü": "%C3%BC", "%2e": "%252e", "@evil.com": "%40evil.com", "\r\n": "%0D%0A", "": ""} {
		d := valid()
		templated(to("https://example.com/x/{{ job }}/y?z={{ job }}"))(&d)
		filled, err := d.Rendered(template.Facts{Job: value})
		if got := filled.Target.Webhook.URL; err != nil || got != "https://example.com/x/"+want+"/y?z="+want {
			t.Errorf("%q gives %s, %v", value, got, err)
		}
	}
}

func TestEveryTextOfATargetThatMayIsFilledIn(t *testing.T) {
	const ask = "{{ job }}"
	all := map[string]string{"k": ask}
	for name, row := range map[string]struct {
		target job.Target
		texts  func(job.Target) []string
	}{
		"webhook": {job.Target{Webhook: &job.Webhook{URL: "https://example.com/" + ask, Headers: all, ConfirmURL: "https://example.org/" + ask}}, func(t job.Target) []string {
			return []string{strings.TrimPrefix(t.Webhook.URL, "https://example.com/"), strings.TrimPrefix(t.Webhook.ConfirmURL, "https://example.org/"), t.Webhook.Headers["k"]}
		}},
		"log": {job.Target{Log: &job.LogTarget{Message: ask}}, func(t job.Target) []string { return []string{t.Log.Message} }},
		"sqs": {job.Target{SQS: &job.SQSTarget{GroupID: ask, Attributes: all}}, func(t job.Target) []string { return []string{t.SQS.GroupID, t.SQS.Attributes["k"]} }},
		"sns": {job.Target{SNS: &job.SNSTarget{Subject: ask, GroupID: ask, Attributes: all}}, func(t job.Target) []string {
			return []string{t.SNS.Subject, t.SNS.GroupID, t.SNS.Attributes["k"]}
		}},
		"eventbridge": {job.Target{EventBridge: &job.EventBridgeTarget{DetailType: ask}}, func(t job.Target) []string { return []string{t.EventBridge.DetailType} }},
		"ecs": {job.Target{ECS: &job.ECSTarget{Containers: []job.ContainerOverride{{Command: []string{ask}, Environment: all}}}}, func(t job.Target) []string {
			return []string{t.ECS.Containers[0].Command[0], t.ECS.Containers[0].Environment["k"]}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d := job.Definition{Template: true, Target: row.target}
			filled, err := d.Rendered(template.Facts{Job: "nightly"})
			if err != nil {
				t.Fatal(err)
			}
			for i, text := range row.texts(filled.Target) {
				if text != "nightly" || !strings.HasSuffix(row.texts(row.target)[i], ask) {
					t.Errorf("text %d became %q, and what was stored %q", i, text, row.texts(row.target)[i])
				}
			}
		})
	}
	var refusal *job.Error
	if _, err := (job.Definition{Template: true, Target: job.Target{Log: &job.LogTarget{Message: "{{"}}}).Rendered(template.Facts{}); !errors.As(err, &refusal) {
		t.Errorf("%v is no refusal", err)
	}
}

func TestBracesThatLookLikeTemplatesAreToldOf(t *testing.T) {
	for sentence, row := range map[string]struct {
		change func(d *job.Definition)
		field  string
	}{
		"in the payload":              {func(d *job.Definition) { d.Payload = []byte(`{"a":["{{ scheduled_time | date '%F' }}"]}`) }, "payload"},
		"in the URL":                  {to("https://example.com/{{job}}"), urlField},
		"in a header":                 {header("X-A", "{{ attempt }}"), "target.webhook.headers.X-A"},
		"in a command":                {toECS(func(e *job.ECSTarget) { e.Containers[0].Command = []string{"{{ payload.x }}"} }), "target.ecs.containers[0].command[0]"},
		"braces of another language":  {func(d *job.Definition) { d.Payload = []byte(`{"a":"{{ name }} {{jobs}} ${{ env.X }}"}`) }, ""},
		"a job that says template":    {templated(to("https://example.com/{{job}}")), ""},
		"a job without braces at all": {func(*job.Definition) {}, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			d := valid()
			row.change(&d)
			field, what := d.BracesStay()
			if field != row.field || (what == "") != (field == "") {
				t.Errorf("%q, %q; want %q", field, what, row.field)
			}
		})
	}
}
