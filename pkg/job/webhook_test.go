package job_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

const (
	urlField  = "target.webhook.url"
	urlBound  = "an absolute http or https URL"
	nameBound = "RFC 9110 token of up to 128 bytes"
)

func to(url string) func(d *job.Definition) {
	return func(d *job.Definition) { d.Target.Webhook.URL = url }
}

func header(name, value string) func(d *job.Definition) {
	return func(d *job.Definition) { d.Target.Webhook.Headers = map[string]string{name: value} }
}

func TestHostileURLsAreRefused(t *testing.T) {
	long := "https://example.com/" + strings.Repeat("a", 2048)
	refuses(t, map[string]rule{
		"no URL":                        {to(""), job.CodeInvalid, urlField, "", urlBound},
		"a path alone":                  {to("/hook"), job.CodeInvalid, urlField, "/hook", urlBound},
		"a host without a scheme":       {to("example.com/hook"), job.CodeInvalid, urlField, "example.com/hook", urlBound},
		"a file":                        {to("file:///etc/passwd"), job.CodeInvalid, urlField, "file:///etc/passwd", urlBound},
		"a script":                      {to("javascript:alert(1)"), job.CodeInvalid, urlField, "javascript:alert(1)", urlBound},
		"another protocol":              {to("gopher://example.com/"), job.CodeInvalid, urlField, "gopher://example.com/", urlBound},
		"no host":                       {to("https:///hook"), job.CodeInvalid, urlField, "https:///hook", urlBound},
		"a port without a host":         {to("https://:443/"), job.CodeInvalid, urlField, "https://:443/", urlBound},
		"a line break that adds a line": {to("https://example.com/\r\nX-Evil: 1"), job.CodeInvalid, urlField, "https://example.com/\uFFFD\uFFFDX-Evil: 1", urlBound},
		"a zero byte":                   {to("https://example.com/\x00"), job.CodeInvalid, urlField, "https://example.com/\uFFFD", urlBound},
		"a space in the host":           {to("https://exa mple.com/"), job.CodeInvalid, urlField, "https://exa mple.com/", urlBound},
		"half an escape":                {to("https://example.com/%zz"), job.CodeInvalid, urlField, "https://example.com/%zz", urlBound},
		"half an IPv6 address":          {to("https://[::1/"), job.CodeInvalid, urlField, "https://[::1/", urlBound},
		"a port that is none":           {to("https://example.com:http/"), job.CodeInvalid, urlField, "https://example.com:http/", urlBound},
		"port zero":                     {to("https://example.com:0/"), job.CodeInvalid, urlField, "0", "1 to 65535"},
		"a port out of range":           {to("https://example.com:65536/"), job.CodeInvalid, urlField, "65536", "1 to 65535"},
		"a user":                        {to("https://me@example.com/"), job.CodeInvalid, urlField, "https://me@example.com/", "no user or password in the URL"},
		"a password, which is not shown": {to("https://me:secret@example.com/"), job.CodeInvalid, urlField, "https://me:xxxxx@example.com/",
			"no user or password in the URL"},
		"too long": {to(long), job.CodeInvalid, urlField, long[:120] + "…", "2048 bytes"},
	})
}

func TestHostileURLsOfQuestionsAreRefused(t *testing.T) {
	const field = "target.webhook.confirm_url"
	asks := func(url string) func(d *job.Definition) {
		return func(d *job.Definition) { d.Target.Webhook.ConfirmURL = url }
	}
	long := "https://example.com/" + strings.Repeat("a", 2048)
	refuses(t, map[string]rule{
		"a path alone":     {asks("/state"), job.CodeInvalid, field, "/state", urlBound},
		"another protocol": {asks("gopher://example.com/"), job.CodeInvalid, field, "gopher://example.com/", urlBound},
		"port zero":        {asks("https://example.com:0/"), job.CodeInvalid, field, "0", "1 to 65535"},
		"a user":           {asks("https://me:secret@example.com/"), job.CodeInvalid, field, "https://me:xxxxx@example.com/", "no user or password in the URL"},
		"too long":         {asks(long), job.CodeInvalid, field, long[:120] + "…", "2048 bytes"},
		"a host filled in": {templated(asks("https://{{ job }}.example.com/")), job.CodeInvalid, field, "https://{{ job }}.example.com/", "templates behind the host"},
	})
	d := valid()
	asks("https://example.com/state")(&d)
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
}

func TestHostileHeadersAreRefused(t *testing.T) {
	of := func(name string) string { return "target.webhook.headers." + name }
	long := strings.Repeat("v", 2049)
	rules := map[string]rule{
		"no name":                    {header("", "x"), job.CodeInvalid, of(""), "", nameBound},
		"a space in the name":        {header("X Y", "x"), job.CodeInvalid, of("X Y"), "X Y", nameBound},
		"a colon in the name":        {header("X:", "x"), job.CodeInvalid, of("X:"), "X:", nameBound},
		"a line break in the name":   {header("X\r\nY", "x"), job.CodeInvalid, of("X\uFFFD\uFFFDY"), "X\uFFFD\uFFFDY", nameBound},
		"a letter outside ASCII":     {header("Größe", "x"), job.CodeInvalid, of("Größe"), "Größe", nameBound},
		"a name too long":            {header(strings.Repeat("n", 129), "x"), job.CodeInvalid, of(strings.Repeat("n", 120) + "…"), strings.Repeat("n", 120) + "…", nameBound},
		"a line break in the value":  {header("X-A", "a\r\nX-Evil: 1"), job.CodeInvalid, of("X-A"), "a\uFFFD\uFFFDX-Evil: 1", "2048 printable bytes"},
		"an escape in the value":     {header("X-A", "\x1b[2J"), job.CodeInvalid, of("X-A"), "\uFFFD[2J", "2048 printable bytes"},
		"a delete in the value":      {header("X-A", "\x7f"), job.CodeInvalid, of("X-A"), "\uFFFD", "2048 printable bytes"},
		"a reference to no secret":   {header("X-A", "Bearer secretsmanager:hooks"), job.CodeInvalid, of("X-A"), "secretsmanager:hooks", "secretsmanager:ARN, secretsmanager:ARN#key or ssm:/path"},
		"a value too long":           {header("X-A", long), job.CodeInvalid, of("X-A"), long[:120] + "…", "2048 printable bytes"},
		"a prefix of ours, any case": {header("bELFRY-x", "1"), job.CodeInvalid, of("bELFRY-x"), "bELFRY-x", "not Belfry-"},
		"a name twice in other letters": {func(d *job.Definition) {
			d.Target.Webhook.Headers = map[string]string{"x-team": "1", "X-Team": "2"}
		}, job.CodeInvalid, of("x-team"), "x-team", "each header once"},
		"thirty-three headers": {func(d *job.Definition) {
			d.Target.Webhook.Headers = labels(33)
		}, job.CodeInvalid, "target.webhook.headers", "33", "32 headers"},
	}
	for _, reserved := range []string{"Idempotency-Key", "Traceparent", "Content-Length", "Transfer-Encoding", "Connection", "Host"} {
		lower := strings.ToLower(reserved)
		rules[lower] = rule{header(lower, "x"), job.CodeInvalid, of(lower), lower, "not " + reserved}
	}
	rules["a signature of ours"] = rule{header("webhook-signature", "x"), job.CodeInvalid, of("webhook-signature"), "webhook-signature", "not Webhook-"}
	refuses(t, rules)
}

func TestTheSameInputGetsTheSameRefusal(t *testing.T) {
	d := valid()
	d.Target.Webhook.Headers = map[string]string{}
	for i := range 20 {
		d.Target.Webhook.Headers[fmt.Sprintf("bad name %02d", i)] = "x"
	}
	for range 20 {
		var refusal *job.Error
		if err := d.Validate(); !errors.As(err, &refusal) || refusal.Value != "bad name 00" {
			t.Fatalf("got %v, want the first of the bad headers each time", err)
		}
	}
}

func TestNoInputMakesValidatePanic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := valid()
		d.Job, d.Pool = rapid.String().Draw(t, "job"), rapid.String().Draw(t, "pool")
		if rapid.Bool().Draw(t, "good names") {
			d.Job, d.Pool = "a", "b"
		}
		d.Target.Webhook.URL = rapid.OneOf(rapid.String(), rapid.StringMatching(`https?://[^/]{0,20}(/.{0,20})?`)).Draw(t, "url")
		d.Target.Webhook.Headers = rapid.MapOfN(rapid.String(), rapid.String(), 0, 3).Draw(t, "headers")
		d.Labels = rapid.MapOfN(rapid.String(), rapid.String(), 0, 3).Draw(t, "labels")
		d.Payload = rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "payload")
		d.Description = rapid.String().Draw(t, "description")
		err := d.Validate()
		var refusal *job.Error
		if err != nil && !errors.As(err, &refusal) {
			t.Fatalf("%v is no refusal", err)
		}
		if err != nil && (len(refusal.Value) > 130 || strings.ContainsAny(refusal.Error(), "\n\r\x00\x1b")) {
			t.Fatalf("the refusal is not one bounded line: %q", refusal)
		}
	})
}
