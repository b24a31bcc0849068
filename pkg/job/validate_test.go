package job_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// valid is a job that breaks no rule.
func valid() job.Definition {
	return job.Definition{Job: "nightly", Schedule: job.Schedule{Cron: "30 3 * * *"},
		Target: job.Target{Webhook: &job.Webhook{URL: "https://example.com/hook"}}}.WithDefaults()
}

func labels(n int) map[string]string {
	m := map[string]string{}
	for i := range n {
		m[fmt.Sprintf("label-%02d", i)] = "value"
	}
	return m
}

// rule is one broken rule and the refusal that it must get.
type rule struct {
	breaks              func(d *job.Definition)
	code                job.Code
	field, value, bound string
}

func refuses(t *testing.T, rules map[string]rule) {
	t.Helper()
	for name, r := range rules {
		t.Run(name, func(t *testing.T) {
			d := valid()
			r.breaks(&d)
			err := d.Validate()
			var refusal *job.Error
			if !errors.As(err, &refusal) {
				t.Fatalf("got %v, want a refusal of %s", err, r.field)
			}
			if refusal.Code != r.code || refusal.Field != r.field || refusal.Value != r.value || refusal.Bound != r.bound {
				t.Errorf("got code %s, field %q, value %q, bound %q\nwant code %s, field %q, value %q, bound %q",
					refusal.Code, refusal.Field, refusal.Value, refusal.Bound, r.code, r.field, r.value, r.bound)
			}
			if refusal.Message == "" || refusal.Fix == "" || refusal.Code.Class() != job.ClassRefused {
				t.Errorf("message, fix or class is missing: %+v", refusal)
			}
			if text := refusal.Error(); len(text) > 700 || strings.ContainsAny(text, "\n\r\x1b\x00") {
				t.Errorf("the refusal is not one bounded line: %q", text)
			}
		})
	}
}

func TestAJobWithinTheRulesIsAccepted(t *testing.T) {
	for name, change := range map[string]func(d *job.Definition){
		"as it is":        func(*job.Definition) {},
		"a log target":    func(d *job.Definition) { d.Target = job.Target{Log: &job.LogTarget{Message: "hello"}} },
		"a handler":       func(d *job.Definition) { d.Target = job.Target{Handler: &job.HandlerTarget{Name: "report.monthly"}} },
		"an interval":     func(d *job.Definition) { d.Schedule = job.Schedule{Every: job.Duration(time.Second)} },
		"one time":        func(d *job.Definition) { d.Schedule = job.Schedule{At: halfPastOne} },
		"a port":          func(d *job.Definition) { d.Target.Webhook.URL = "http://127.0.0.1:65535/x?y=z" },
		"an IPv6 address": func(d *job.Definition) { d.Target.Webhook.URL = "http://[::1]:8080/" },
		"a header that only resembles a reserved one": func(d *job.Definition) {
			d.Target.Webhook.Headers = map[string]string{"Hostname": "a", "Connection-Id": "b", "X-Belfry-Note": "a\tb"}
		},
		"all bounds at once": func(d *job.Definition) {
			d.Payload = []byte(`"` + strings.Repeat("a", job.MaxPayload-2) + `"`)
			d.Labels, d.Description = labels(job.MaxLabels), strings.Repeat("ä", job.MaxDescription)
			d.Timeout = job.MaxTimeout
			d.Retry = job.Retry{MaxAttempts: 100, Base: job.Duration(day), Max: job.Duration(day), MaxAge: job.Duration(14 * day), MaxLost: 20}
			d.Misfire = &job.Misfire{Policy: job.MisfireSkip, Max: 1000, Window: job.Duration(365 * day), Tolerance: job.Duration(time.Hour)}
		},
		"the least of everything": func(d *job.Definition) {
			d.Timeout = job.Duration(time.Second)
			d.Retry = job.Retry{MaxAttempts: 1, Base: job.Duration(100 * time.Millisecond), Max: job.Duration(100 * time.Millisecond), MaxAge: job.Duration(time.Second), MaxLost: 1}
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := valid()
			change(&d)
			if err := d.Validate(); err != nil {
				t.Errorf("refused: %v", err)
			}
		})
	}
}

func TestNamesScheduleAndTargetAreChecked(t *testing.T) {
	refuses(t, map[string]rule{
		"a job without a name":     {func(d *job.Definition) { d.Job = "" }, job.CodeInvalid, "job", "", job.NamePattern},
		"a pool that is no name":   {func(d *job.Definition) { d.Pool = "Fast IO" }, job.CodeInvalid, "pool", "Fast IO", job.NamePattern},
		"a type that is no name":   {func(d *job.Definition) { d.Type = "a/b" }, job.CodeInvalid, "type", "a/b", job.NamePattern},
		"a priority without sense": {func(d *job.Definition) { d.Priority = "urgent" }, job.CodePolicyUnknown, "priority", "urgent", "low, normal, high"},
		"no schedule": {func(d *job.Definition) { d.Schedule = job.Schedule{} }, job.CodeScheduleInvalid, "schedule", "0",
			"exactly one of cron, every, at"},
		"two schedules": {func(d *job.Definition) { d.Schedule.Every = job.Duration(time.Minute) }, job.CodeScheduleInvalid, "schedule", "2",
			"exactly one of cron, every, at"},
		"three schedules": {func(d *job.Definition) { d.Schedule.Every, d.Schedule.At = job.Duration(time.Minute), halfPastOne },
			job.CodeScheduleInvalid, "schedule", "3", "exactly one of cron, every, at"},
		"no target": {func(d *job.Definition) { d.Target = job.Target{} }, job.CodeInvalid, "target", "0",
			"exactly one of webhook, log, handler, lambda, sqs, sns, eventbridge, stepfunctions, ecs"},
		"two targets": {func(d *job.Definition) { d.Target.Log = &job.LogTarget{} }, job.CodeInvalid, "target", "2",
			"exactly one of webhook, log, handler, lambda, sqs, sns, eventbridge, stepfunctions, ecs"},
		"a handler without a name": {func(d *job.Definition) { d.Target = job.Target{Handler: &job.HandlerTarget{}} },
			job.CodeInvalid, "target.handler.name", "", job.NamePattern},
		"a log message without end": {func(d *job.Definition) {
			d.Target = job.Target{Log: &job.LogTarget{Message: strings.Repeat("a", 1<<20)}}
		}, job.CodeInvalid, "target.log.message", "1048576", "1000 characters"},
	})
}

func TestNumbersAndTextsAreBounded(t *testing.T) {
	refuses(t, map[string]rule{
		"a payload too large": {func(d *job.Definition) { d.Payload = []byte(`"` + strings.Repeat("a", job.MaxPayload) + `"`) },
			job.CodeTooLarge, "payload", "32770", "32768 bytes"},
		"a payload that is no JSON": {func(d *job.Definition) { d.Payload = []byte("{\n") }, job.CodeInvalid, "payload", "{\uFFFD", "JSON"},
		"a timeout too short": {func(d *job.Definition) { d.Timeout = job.Duration(999 * time.Millisecond) }, job.CodeInvalid,
			"timeout", "999ms", "1s to 12h"},
		"a timeout too long": {func(d *job.Definition) { d.Timeout = job.MaxTimeout + 1 }, job.CodeInvalid, "timeout", "12h0m0.000000001s", "1s to 12h"},
		"no attempts":        {func(d *job.Definition) { d.Retry.MaxAttempts = 0 }, job.CodeInvalid, "retry.max_attempts", "0", "1 to 100"},
		"too many attempts":  {func(d *job.Definition) { d.Retry.MaxAttempts = 101 }, job.CodeInvalid, "retry.max_attempts", "101", "1 to 100"},
		"no lost attempts":   {func(d *job.Definition) { d.Retry.MaxLost = 0 }, job.CodeInvalid, "retry.max_lost", "0", "1 to 20"},
		"too many lost":      {func(d *job.Definition) { d.Retry.MaxLost = 21 }, job.CodeInvalid, "retry.max_lost", "21", "1 to 20"},
		"a first wait too short": {func(d *job.Definition) { d.Retry.Base = job.Duration(time.Millisecond) }, job.CodeInvalid,
			"retry.base", "1ms", "100ms up to retry.max"},
		"a first wait beyond the longest": {func(d *job.Definition) { d.Retry.Base = d.Retry.Max + 1 }, job.CodeInvalid,
			"retry.base", "5m0.000000001s", "100ms up to retry.max"},
		"a longest wait beyond a day": {func(d *job.Definition) { d.Retry.Max = job.Duration(day) + 1 }, job.CodeInvalid,
			"retry.max", "1d1ns", "1d"},
		"an age too short":   {func(d *job.Definition) { d.Retry.MaxAge = 1 }, job.CodeInvalid, "retry.max_age", "1ns", "1s to 14d"},
		"a budget too short": {func(d *job.Definition) { d.Retry.MaxRun = 1 }, job.CodeInvalid, "retry.max_run", "1ns", "1s to 14d"},
		"an age too long": {func(d *job.Definition) { d.Retry.MaxAge = job.Duration(15 * day) }, job.CodeInvalid,
			"retry.max_age", "15d", "1s to 14d"},
		"a misfire policy without sense": {func(d *job.Definition) { d.Misfire.Policy = "LATER" }, job.CodePolicyUnknown,
			"misfire.policy", "LATER", "SKIP, FIRE_ONCE, FIRE_ALL, COALESCE"},
		"too many catch-up executions": {func(d *job.Definition) { d.Misfire.Max = 1001 }, job.CodeInvalid, "misfire.max", "1001", "1 to 1000"},
		"fewer than none":              {func(d *job.Definition) { d.Misfire.Max = -1 }, job.CodeInvalid, "misfire.max", "-1", "1 to 1000"},
		"a negative tolerance":         {func(d *job.Definition) { d.Misfire.Tolerance = -1 }, job.CodeInvalid, "misfire.tolerance", "-1ns", "not negative"},
		"a negative window":            {func(d *job.Definition) { d.Misfire.Window = -1 }, job.CodeInvalid, "misfire.window", "-1ns", "not negative"},
		"a negative rate":              {func(d *job.Definition) { d.Misfire.Rate = -0.5 }, job.CodeInvalid, "misfire.rate", "-0.5", "not negative"},
		"a rate too high":              {func(d *job.Definition) { d.Misfire.Policy, d.Misfire.Rate = job.MisfireFireAll, 10.5 }, job.CodeInvalid, "misfire.rate", "10.5", "0.001 to 10"},
		"a rate too low":               {func(d *job.Definition) { d.Misfire.Policy, d.Misfire.Rate = job.MisfireFireAll, 0.0001 }, job.CodeInvalid, "misfire.rate", "0.0001", "0.001 to 10"},
		"a rate for one time":          {func(d *job.Definition) { d.Misfire.Rate = 2 }, job.CodeInvalid, "misfire.rate", "2", "only with FIRE_ALL"},
		"a description too long": {func(d *job.Definition) { d.Description = strings.Repeat("ä", 1001) }, job.CodeInvalid,
			"description", "1001", "1000 characters"},
		"too many labels":    {func(d *job.Definition) { d.Labels = labels(21) }, job.CodeInvalid, "labels", "21", "20"},
		"a label without":    {func(d *job.Definition) { d.Labels = map[string]string{"": "x"} }, job.CodeInvalid, "labels.", "x", "1 to 63 bytes a key, 255 a value"},
		"a label's key":      {func(d *job.Definition) { d.Labels = map[string]string{strings.Repeat("k", 64): "x"} }, job.CodeInvalid, "labels." + strings.Repeat("k", 64), "x", "1 to 63 bytes a key, 255 a value"},
		"a label's value":    {func(d *job.Definition) { d.Labels = map[string]string{"k": strings.Repeat("v", 256)} }, job.CodeInvalid, "labels.k", strings.Repeat("v", 120) + "…", "1 to 63 bytes a key, 255 a value"},
		"a policy for twins": {func(d *job.Definition) { d.Concurrency = "SOMETIMES" }, job.CodePolicyUnknown, "concurrency", "SOMETIMES", "ALLOW, FORBID, SERIALIZE, REPLACE"},
	})
}

func TestWhatIsNotBuiltYetSaysSo(t *testing.T) {
	for field, change := range map[string]func(d *job.Definition){
		"concurrency": func(d *job.Definition) { d.Concurrency = job.ConcurrencyForbid },
		"limits":      func(d *job.Definition) { d.Limits = []string{"tenant=*"} },
		"priority":    func(d *job.Definition) { d.Priority = "low" },
	} {
		t.Run(field, func(t *testing.T) {
			d := valid()
			change(&d)
			var refusal *job.Error
			if err := d.Validate(); !errors.As(err, &refusal) || refusal.Code != job.CodeNotSupported || refusal.Field != field {
				t.Fatalf("got %v; want %s refused as not supported", err, field)
			}
			if text := refusal.Error(); !strings.Contains(text, "not built yet") || !strings.Contains(text, "leave "+field+" out") {
				t.Errorf("the refusal does not say so: %q", text)
			}
		})
	}
	for _, policy := range []job.Concurrency{job.ConcurrencySerialize, job.ConcurrencyReplace} {
		d := valid()
		d.Concurrency = policy
		if err := d.Validate(); job.CodeOf(err) != job.CodeNotSupported || !strings.Contains(err.Error(), string(policy)) {
			t.Errorf("%s gives %v", policy, err)
		}
	}
	for _, policy := range []job.MisfirePolicy{job.MisfireSkip, job.MisfireFireOnce, job.MisfireFireAll, job.MisfireCoalesce} {
		d := valid()
		d.Misfire.Policy = policy
		if err := d.Validate(); err != nil {
			t.Errorf("%s gives %v", policy, err)
		}
	}
}
