package job

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job/template"
)

// Rendered is the definition with every template of its payload and its target
// filled in: what an attempt works with. Without Template it is the definition
// itself. Members of the payload that the target names are those of the payload
// filled in. The error is a *Error; of a definition that was validated there is
// none but a length that the facts alone bring about.
func (d Definition) Rendered(f template.Facts) (Definition, error) {
	if !d.Template {
		return d, nil
	}
	payload, err := template.Payload(d.Payload, f)
	if err != nil {
		return d, refuseTemplate("payload", err)
	}
	d.Payload, f.Payload = payload, payload
	filling := &filling{facts: f}
	d.Target = filling.target(d.Target)
	return d, filling.err
}

// filling fills in the texts of a target. What decides who is called is none of
// them: hosts, queues, topics, buses, functions, state machines, clusters, task
// definitions stay as they are written.
type filling struct {
	facts template.Facts
	err   error                    // the first one
	look  func(field, text string) // only looks at the texts that could be filled in; nil = it fills in
}

// target gives a copy: what was stored is shared by all attempts.
func (f *filling) target(t Target) Target {
	switch {
	case t.Webhook != nil:
		w := *t.Webhook
		w.URL = f.url("target.webhook.url", w.URL)
		w.ConfirmURL = f.url("target.webhook.confirm_url", w.ConfirmURL)
		w.Headers = f.values("target.webhook.headers", w.Headers, f.header)
		t.Webhook = &w
	case t.Log != nil:
		l := *t.Log
		l.Message = f.text("target.log.message", l.Message)
		t.Log = &l
	case t.SQS != nil:
		q := *t.SQS
		q.GroupID = f.text("target.sqs.group_id", q.GroupID)
		q.Attributes = f.values("target.sqs.attributes", q.Attributes, f.text)
		t.SQS = &q
	case t.SNS != nil:
		s := *t.SNS
		s.Subject, s.GroupID = f.text("target.sns.subject", s.Subject), f.text("target.sns.group_id", s.GroupID)
		s.Attributes = f.values("target.sns.attributes", s.Attributes, f.text)
		t.SNS = &s
	case t.EventBridge != nil:
		e := *t.EventBridge
		e.DetailType = f.text("target.eventbridge.detail_type", e.DetailType)
		t.EventBridge = &e
	case t.ECS != nil:
		e := *t.ECS
		e.Containers = slices.Clone(e.Containers)
		for i, c := range e.Containers {
			field := fmt.Sprintf("target.ecs.containers[%d].", i)
			c.Command = slices.Clone(c.Command)
			for n, word := range c.Command {
				c.Command[n] = f.text(fmt.Sprintf("%scommand[%d]", field, n), word)
			}
			c.Environment = f.values(field+"environment", c.Environment, f.text)
			e.Containers[i] = c
		}
		t.ECS = &e
	}
	return t
}

func (f *filling) values(field string, all map[string]string, fill func(field, text string) string) map[string]string {
	if all == nil {
		return nil
	}
	filled := make(map[string]string, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		filled[name] = fill(field+"."+Shorten(name), all[name])
	}
	return filled
}

func (f *filling) text(field, text string) string { return f.escaped(field, text, nil) }

func (f *filling) escaped(field, text string, escape func(string) string) string {
	if f.look != nil {
		f.look(field, text)
		return text
	}
	if f.err != nil || !template.Has(text) {
		return text
	}
	parsed, err := template.Parse(text)
	if err == nil {
		text, err = parsed.Render(f.facts, escape)
	}
	if err != nil {
		f.err = refuseTemplate(field, err)
	}
	return text
}

// header fills in what does not refer to a secret; and nothing that is filled in
// may become a reference.
func (f *filling) header(field, text string) string {
	if _, _, refers, _ := SecretIn(text); refers {
		return text
	}
	text = f.text(field, text)
	if _, _, refers, _ := SecretIn(text); refers && f.err == nil {
		f.err = invalid(field, text, "a reference that is written out", "a template became a reference to a secret", "write the whole reference out, or fill in something else")
	}
	return text
}

// beyondHost matches a URL whose first template stands behind its host.
var beyondHost = regexp.MustCompile(`^https?://[^/?#{}]+[/?#]`)

// url fills values in so that each stays within its part of the path or the query.
func (f *filling) url(field, text string) string {
	if f.look == nil && template.Has(text) && !beyondHost.MatchString(text) && f.err == nil {
		f.err = invalid(field, text, "templates behind the host", "scheme, host and port of a URL cannot be filled in", "write them out, up to the / behind the host")
	}
	return f.escaped(field, text, escapeURL)
}

// escapeURL leaves letters, digits and -_~ as they are, and full stops within
// them: a value cannot end its part of a URL, nor go up a level.
func escapeURL(text string) string {
	var b strings.Builder
	dots := strings.Trim(text, ".") == ""
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '~', c == '.' && !dots:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func refuseTemplate(field string, err error) error {
	var e *template.Error
	if !errors.As(err, &e) {
		return invalid(field, "", "a template", err.Error(), "mend the template")
	}
	return invalid(field, e.Value, e.Bound, e.Message, e.Fix)
}

// sampled is the definition filled in with facts such as attempts have, the
// longest where lengths differ.
func (d Definition) sampled() (Definition, error) {
	at := time.Date(2026, 7, 12, 1, 30, 0, 0, time.UTC)
	ref := Ref{Tenant: strings.Repeat("t", 63), Job: d.Job}
	return d.Rendered(template.Facts{ExecutionID: ID(d.Job, ScheduledKey(at), 1_000_000), IdempotencyKey: IdempotencyKey(ref, ScheduledKey(at)), Tenant: ref.Tenant, Job: d.Job, Revision: 1_000_000,
		Attempt: 100, FencingToken: 1 << 62, ScheduledTime: at, IntervalStart: at.AddDate(0, 0, -1), IntervalEnd: at, Deadline: at.AddDate(0, 0, 1)})
}
