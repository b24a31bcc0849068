package template_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job/template"
)

// berlin is a zone of its own, so that no database of zones is needed: summer
// time at all times.
var berlin = time.FixedZone("CEST", 2*3600)

func facts() template.Facts {
	at := time.Date(2026, 7, 12, 22, 30, 0, 0, time.UTC) // the 13th, half past midnight, there
	return template.Facts{ExecutionID: "nightly~20260712T223000Z~v3", IdempotencyKey: "acme/nightly~20260712T223000Z", Tenant: "acme", Job: "nightly", Revision: 3, Attempt: 2, FencingToken: 1 << 40,
		ScheduledTime: at, IntervalStart: at.Add(-24 * time.Hour), IntervalEnd: at, Deadline: at.Add(90 * time.Second), Zone: berlin,
		Payload: json.RawMessage(`{"order":{"id":7,"items":["tea","milk"],"note":"a \"b\" <c>\n"},"nil":null,"yes":true,"x-y_1":1.50}`)}
}

func render(t *testing.T, text string) (string, error) {
	t.Helper()
	parsed, err := template.Parse(text)
	if err != nil {
		return "", err
	}
	return parsed.Render(facts(), nil)
}

func TestTextsAreFilledIn(t *testing.T) {
	for text, want := range map[string]string{
		"":                                             "",
		"nothing to do":                                "nothing to do",
		"}} and { and } are themselves":                "}} and { and } are themselves",
		"{{ execution_id }}":                           "nightly~20260712T223000Z~v3",
		"{{execution_id}}":                             "nightly~20260712T223000Z~v3",
		"a{{ attempt }}b{{ revision }}":                "a2b3",
		"{{ fencing_token }}":                          "1099511627776",
		"{{ tenant }}/{{ job }}":                       "acme/nightly",
		"{{ idempotency_key }}":                        "acme/nightly~20260712T223000Z",
		"{{ '{{' }} braces {{ \"}}\" }}":               "{{ braces }}",
		`{{ "a\"\u00e4" }}`:                            `a"ä`,
		"{{ scheduled_time }}":                         "2026-07-12T22:30:00.000Z",
		"{{ deadline }}":                               "2026-07-12T22:31:30.000Z",
		"{{ scheduled_time | date '%Y-%m-%d' }}":       "2026-07-13",
		"{{ scheduled_time | utc | date '%Y-%m-%d' }}": "2026-07-12",
		"{{ scheduled_time | date '%d.%m.%Y %H:%M:%S %j %u %G-W%V %z %F %T %s %%' }}": "13.07.2026 00:30:00 194 1 2026-W29 +0200 2026-07-13 00:30:00 1783895400 %",
		"{{ scheduled_time | add '-1d' | date '%F' }}":                                "2026-07-12",
		"{{ scheduled_time | add '1d2h3m4s' }}":                                       "2026-07-14T00:33:04.000Z",
		"{{ scheduled_time | add '-90m' }}":                                           "2026-07-12T21:00:00.000Z",
		"{{ scheduled_time | unix }}":                                                 "1783895400",
		"{{ scheduled_time | unix_ms }}":                                              "1783895400000",
		"{{ interval_start | default interval_end | date '%F' }}":                     "2026-07-12",
		"{{ interval_start | default 'never' }}":                                      "2026-07-11T22:30:00.000Z",
		"{{ payload.order.id }}":                                                      "7",
		"{{ payload.order.items }}":                                                   `["tea","milk"]`,
		"{{ payload.order.items.1 }}":                                                 "milk",
		"{{ payload.order.note }}":                                                    "a \"b\" <c>\n",
		"{{ payload.order.note | json }}":                                             `"a \"b\" <c>\n"`,
		"{{ payload.yes }}":                                                           "true",
		"{{ payload.x-y_1 }}":                                                         "1.50",
		"{{ payload.nil | default 'none' }}":                                          "none",
		"{{ payload.order.none | default 'none' | json }}":                            `"none"`,
		"{{ 'it''' }}":                                                                "",
	} {
		got, err := render(t, text)
		if text == "{{ 'it''' }}" {
			if err == nil {
				t.Errorf("%q gives %q", text, got)
			}
			continue
		}
		if got != want || err != nil {
			t.Errorf("%q gives %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestWhatIsNoTemplateIsRefusedWithValueBoundAndWhatToDo(t *testing.T) {
	for text, want := range map[string]struct{ value, message, fix string }{
		"{{ scheduledtime }}":             {"scheduledtime", `nothing is called "scheduledtime"`, "did you mean scheduled_time?"},
		"{{ env }}":                       {"env", `nothing is called "env"`, "write {{ '{{' }}"},
		"{{ name":                         {"name", "nothing is called", "braces"},
		"{{":                              {"", "a template begins with", "close it"},
		"{{ }}":                           {"}}", "a template begins with", "write {{ '{{' }}"},
		"{{ job":                          {" job", "not closed", "close it with }}"},
		"{{ job }":                        {" job ", "not closed", "close it with }}"},
		"{{ job tenant }}":                {" job ", "not closed", "close it with }}"},
		"{{ 'abc }}":                      {"'abc }}", "not closed", "another '"},
		`{{ "abc }}`:                      {`"abc }}`, "not closed", "single quotes"},
		`{{ "\x" }}`:                      {`"\x"`, "does not read", "single quotes"},
		"{{ job | shout }}":               {"shout", `no filter "shout"`, "use one of date"},
		"{{ job | }}":                     {"", `no filter ""`, "use one of date"},
		"{{ job | date '%F' }}":           {"date", "takes a time, and this is a text", "behind scheduled_time"},
		"{{ attempt | add '1d' }}":        {"add", "takes a time, and this is a number", "behind scheduled_time"},
		"{{ payload.order | unix }}":      {"unix", "takes a time, and this is a member of the payload", "behind"},
		"{{ scheduled_time | date }}":     {"date", "needs a text in quotes", "| date '…'"},
		"{{ scheduled_time | date job }}": {"date", "needs a text in quotes", "| date '…'"},
		"{{ scheduled_time | date '' }}":  {"", "empty or too long", "%Y-%m-%d"},
		"{{ scheduled_time | date '2006-01-02' }}":      {"2006-01-02", "no part of a time", "%Y-%m-%d"},
		"{{ scheduled_time | date 'YYYY-MM' }}":         {"YYYY-MM", "no part of a time", "%Y-%m-%d"},
		"{{ scheduled_time | date '%y' }}":              {"%y", "there is none of", "%Y %m"},
		"{{ scheduled_time | date '%' }}":               {"%", "there is none of", "%Y %m"},
		"{{ scheduled_time | date '%F' | date '%F' }}":  {"date", "takes a time, and this is a text", "behind"},
		"{{ scheduled_time | utc 'x' }}":                {"x", "takes nothing", "leave it out"},
		"{{ scheduled_time | add '1w' }}":               {"1w", "no length", "d, h, m or s"},
		"{{ scheduled_time | add '' }}":                 {"", "no length", "d, h, m or s"},
		"{{ scheduled_time | add '99999999d' }}":        {"99999999d", "no length", "d, h, m or s"},
		"{{ scheduled_time | add '1h1d' }}":             {"1h1d", "no length", "d, h, m or s"},
		"{{ interval_start }}":                          {"interval_start", "no interval_start where", "| default interval_end"},
		"{{ interval_start | default interval_start }}": {"interval_start", "cannot stand in", "always there"},
		"{{ interval_start | default job }}":            {"job", "cannot stand in", "always there"},
		"{{ interval_start | default 'x' | utc }}":      {"x", "comes last", "move default to the end"},
		"{{ job | json | json }}":                       {"json", "comes last", "move it to the end"},
		"{{ job.name }}":                                {"job.name", "only members of the payload", "payload.member"},
		"{{ payload. }}":                                {"payload.", "only members of the payload", "payload.member"},
		"{{ payload.none }}":                            {"none", "the payload has no none", "| default"},
		"{{ payload.order.items.2 }}":                   {"order.items.2", "the payload has no order.items.2", "| default"},
		"{{ payload.order.id.x }}":                      {"order.id.x", "the payload has no order.id.x", "| default"},
		"{{ payload.nil }}":                             {"{{ payload.nil }}", "no value", "| default"},
		"{{ payload" + strings.Repeat(".a", 17) + " }}": {"payload.a", "only members", "payload.member"},
		"{{ job" + strings.Repeat(" | json", 7) + " }}": {" job | json | json | json | json | json | json |", "more than 6 filters", "fewer"},
		strings.Repeat("{{ job }}", 101):                {"100", "more than 100 templates", "fewer"},
	} {
		got, err := render(t, text)
		var refused *template.Error
		if !errors.As(err, &refused) {
			t.Errorf("%q gives %q, %v", text, got, err)
			continue
		}
		if refused.Value != want.value || refused.Bound == "" || !strings.Contains(refused.Message, want.message) || !strings.Contains(refused.Fix, want.fix) {
			t.Errorf("%q is refused with %+v\nwant %+v", text, refused, want)
		}
	}
}

func TestPayloadsAreFilledInWhereTheirStringsAsk(t *testing.T) {
	for document, want := range map[string]string{
		``:                                  ``,
		`{"a":1.50,"b":[true,null,"x{y}"]}`: `{"a":1.50,"b":[true,null,"x{y}"]}`,
		"{ \"a\" :\n \"{{ job }}\", \"b\": 1e3 }": "{ \"a\" :\n \"nightly\", \"b\": 1e3 }",
		`"{{ job }}"`: `"nightly"`,
		`["{{ attempt }}","{{ attempt | json }}"]`:                                        `["2",2]`,
		`{"o":{"a":"q\"<>"},"copy":"{{ payload.o | json }}","text":"{{ payload.o.a }}!"}`: `{"o":{"a":"q\"<>"},"copy":{"a":"q\"<>"},"text":"q\"<>!"}`,
		`{"a":"{{ '\"\\n' }}"}`:                   `{"a":"\"\\n"}`,
		`{"a":"\u007b\u007b job }}"}`:             `{"a":"nightly"}`,
		`{"a":"{{ scheduled_time | json }}"}`:     `{"a":"2026-07-12T22:30:00.000Z"}`,
		`{"a":"at {{ attempt | json }}"}`:         `{"a":"at 2"}`,
		`{"a\":{{":"x"}`:                          "",
		`{"{{ job }}":"x"}`:                       "",
		`{"a":"{{ payload.b }}","b":"{{ job }}"}`: "",
		`{"a":"{{ payload | json }}"}`:            "",
	} {
		got, err := template.Payload(json.RawMessage(document), facts())
		if want == "" && document != "" {
			var refused *template.Error
			if !errors.As(err, &refused) {
				t.Errorf("%s gives %s, %v", document, got, err)
			}
			continue
		}
		if string(got) != want || err != nil {
			t.Errorf("%s\ngives %s, %v\nwant  %s", document, got, err, want)
		}
	}
}

func TestWhatIsFilledInIsBounded(t *testing.T) {
	big := strings.Repeat("x", 8<<10)
	document := fmt.Sprintf(`{"big":"%s","all":["%s"]}`, big, strings.Repeat("{{ payload.big }}", 9))
	if got, err := template.Payload(json.RawMessage(document), facts()); err == nil || len(got) > 0 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	items := strings.Repeat(`,"{{ payload.big }}"`, 90)
	if got, err := template.Payload(json.RawMessage(`{"big":"`+big+`","all":[1`+items+`]}`), facts()); err == nil || len(got) > 0 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
