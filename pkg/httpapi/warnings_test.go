package httpapi

import (
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

func codes(warnings []client.Warning) string {
	list := make([]string, len(warnings))
	for i, w := range warnings {
		list[i] = w.Code
	}
	return strings.Join(list, " ")
}

func TestWhatAScheduleProbablyDoesNotMeanIsToldAndNotRefused(t *testing.T) {
	const odd = `{"schedule":{"cron":"*/7 2 31 * 5"},"target":{"log":{}}}`
	const all = "NO_ZONE UNEVEN_STEP BOTH_DAY_FIELDS MISSING_DAY"
	w := newWorld(t)
	for _, query := range []string{"?dry_run=true", ""} {
		answer := w.ask("PUT", "/v1/jobs/odd"+query, odd)
		if got := decode[client.PutResult](t, answer); got.Action != "created" || codes(got.Warnings) != all || got.Warnings[1].Field != "minute" || got.Warnings[1].Fix == "" {
			t.Errorf("%q: %d %+v", query, answer.Code, got)
		}
	}
	if got := decode[client.Fires](t, w.ask("POST", "/v1/schedule/next", `{"cron":"*/7 2 31 * 5"}`)); codes(got.Warnings) != all || got.Gap != job.GapShiftForward || got.Overlap != job.OverlapFirst {
		t.Errorf("tried: %+v", got)
	}
	// A stored job has its zone.
	if got := decode[client.Fires](t, w.ask("GET", "/v1/jobs/odd/next", "")); codes(got.Warnings) != strings.TrimPrefix(all, "NO_ZONE ") {
		t.Errorf("asked later: %+v", got.Warnings)
	}
	answer := w.ask("PUT", "/v1/jobs/plain", nightlyJob)
	if got := decode[client.PutResult](t, answer); len(got.Warnings) != 0 || !strings.Contains(answer.Body.String(), `"warnings":[]`) {
		t.Errorf("a schedule without faults: %s", answer.Body)
	}
}

func TestTemplatesThatAJobDoesNotAskForAreToldOf(t *testing.T) {
	w := newWorld(t)
	const braces = `{"schedule":{"every":"1h"},"target":{"log":{"message":"{{ job }}"}}`
	for body, want := range map[string]string{braces + `}`: job.CodeBracesStay, braces + `,"template":true}`: "", braces + `,"template":false,"payload":"{{ attempt }}"}`: job.CodeBracesStay} {
		got := decode[client.PutResult](t, w.ask("PUT", "/v1/jobs/braces?dry_run=true", body))
		if codes(got.Warnings) != want || want != "" && (got.Warnings[0].Field == "" || !strings.Contains(got.Warnings[0].Fix, "template: true")) {
			t.Errorf("%s: %+v", body, got.Warnings)
		}
	}
	if p := problemOf(t, w.ask("PUT", "/v1/jobs/braces", `{"schedule":{"every":"1h"},"target":{"log":{"message":"{{ jub }}"}},"template":true}`)); p.Code != job.CodeInvalid || p.Field != "target.log.message" || p.Value != "jub" {
		t.Errorf("an unknown name: %+v", p)
	}
}

func TestJobsOfEveryDialectAreMade(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct{ schedule, next string }{
		"quartz":   {`"cron":"30 0 9 L-1 * ?","dialect":"quartz"`, "2026-07-30T09:00:30.000Z"},
		"aws":      {`"cron":"cron(0 9 ? * 2#1 2027)","dialect":"aws"`, "2027-01-04T09:00:00.000Z"},
		"cronexpr": {`"cron":"15 0 9 * * 1 2026","dialect":"cronexpr"`, "2026-07-13T09:00:15.000Z"},
		"unix":     {`"cron":"0 9 * * 1"`, "2026-07-13T09:00:00.000Z"},
	} {
		answer := w.ask("PUT", "/v1/jobs/"+name, `{"schedule":{`+c.schedule+`,"zone":"UTC"},"target":{"log":{}}}`)
		if got := decode[client.PutResult](t, answer); answer.Code != 201 || got.NextFireAt.String() != c.next {
			t.Errorf("%s: %d %s", name, answer.Code, answer.Body)
		}
	}
	p := problemOf(t, w.ask("PUT", "/v1/jobs/nobody", `{"schedule":{"cron":"0 30 9 * * *","zone":"Europe/Berlin"},"target":{"log":{}}}`))
	if p.Code != job.CodeScheduleDialect || !strings.Contains(p.Detail, `as quartz: second 0, minute 30, hour 9, day-of-month *, month *, day-of-week * – written "0 30 9 * * ?" would fire at 2026-07-13T07:30:00Z`) {
		t.Errorf("six fields of nobody: %+v", p)
	}
}
