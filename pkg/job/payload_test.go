package job_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

const sum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func TestAPayloadLiesInOnePlaceThatItsTargetCanTakeItFrom(t *testing.T) {
	refuses(t, map[string]rule{
		"a payload and a reference": {func(d *job.Definition) { d.Payload, d.PayloadRef = []byte(`{}`), "s3://acme/a" },
			job.CodeInvalid, "payload_ref", "s3://acme/a", "payload or payload_ref"},
		"a reference to the web":    {func(d *job.Definition) { d.PayloadRef = "https://acme/a" }, job.CodeInvalid, "payload_ref", "https://acme/a", "s3://bucket/key"},
		"a reference to a bucket":   {func(d *job.Definition) { d.PayloadRef = "s3://acme/" }, job.CodeInvalid, "payload_ref", "s3://acme/", "s3://bucket/key"},
		"a reference to a folder":   {func(d *job.Definition) { d.PayloadRef = "s3://acme/in/" }, job.CodeInvalid, "payload_ref", "s3://acme/in/", "s3://bucket/key"},
		"a bucket that is none":     {func(d *job.Definition) { d.PayloadRef = "s3://Acme/a" }, job.CodeInvalid, "payload_ref", "s3://Acme/a", "s3://bucket/key"},
		"a key with a control code": {func(d *job.Definition) { d.PayloadRef = "s3://acme/a\x01" }, job.CodeInvalid, "payload_ref", "s3://acme/a\uFFFD", "1024 bytes of UTF-8 without control characters"},
		"a target that sends it inline": {func(d *job.Definition) { d.PayloadRef, d.Target = "s3://acme/a", toQueue },
			job.CodeInvalid, "payload_ref", "s3://acme/a", "with the targets handler, webhook and log"},
		"a template that asks for it": {func(d *job.Definition) {
			d.PayloadRef, d.Template, d.Target.Webhook.URL = "s3://acme/a", true, "https://example.com/{{ payload.id }}"
		}, job.CodeInvalid, "target.webhook.url", "id", "members that the payload has"},
	})
}

var toQueue = job.Target{SQS: &job.SQSTarget{QueueURL: "https://sqs.eu-west-1.amazonaws.com/111122223333/orders"}}

// A payload beyond the bound is refused with what to do instead.
func TestATooLargePayloadIsSentToItsReference(t *testing.T) {
	d := valid()
	d.Payload = []byte(`"` + strings.Repeat("a", job.MaxPayload) + `"`)
	if err := d.Validate(); err == nil || !strings.Contains(err.Error(), "belfry payload put") || !strings.Contains(err.Error(), "payload_ref") {
		t.Errorf("refused with %v", err)
	}
	d = valid()
	d.PayloadRef = "s3://acme/in/2026-07-12.json"
	if err := d.Validate(); err != nil {
		t.Errorf("a reference is refused: %v", err)
	}
}

func TestWhereATenantMayReferTo(t *testing.T) {
	rules := job.PayloadRules{Own: "own", Allowed: map[string][]string{"acme": {"s3://acme-in/jobs/"}, "*": {"s3://public/"}}}
	for sentence, row := range map[string]struct {
		tenant, ref string
		may         bool
	}{
		"its folder of the installation's bucket": {"acme", "s3://own/payloads/acme/x", true},
		"another tenant's folder":                 {"acme", "s3://own/payloads/beta/x", false},
		"a tenant whose name goes on":             {"acme", "s3://own/payloads/acme2/x", false},
		"checkpoints":                             {"acme", "s3://own/checkpoints/acme/x", false},
		"a way up is a name like any other":       {"acme", "s3://own/payloads/acme/../beta/x", true},
		"what is allowed to it":                   {"acme", "s3://acme-in/jobs/a/b", true},
		"what lies beside that":                   {"acme", "s3://acme-in/jobs2/a", false},
		"what is allowed to another":              {"beta", "s3://acme-in/jobs/a", false},
		"what is allowed to all":                  {"beta", "s3://public/a", true},
		"a bucket whose name goes on":             {"beta", "s3://public2/a", false},
	} {
		ref, err := job.ParsePayloadRef(row.ref)
		if err != nil {
			t.Fatal(err)
		}
		if err := rules.Check(row.tenant, ref); (err == nil) != row.may {
			t.Errorf("%s: %v, want %v", sentence, err, row.may)
		}
	}
	var refusal *job.Error
	if err := (job.PayloadRules{}).Check("acme", job.PayloadRef{Bucket: "acme", Key: "a"}); !errors.As(err, &refusal) || !strings.HasPrefix(refusal.Bound, "none") {
		t.Errorf("without a rule: %v", err)
	}
}

func TestOnlyWhatTheInstallationNamedPromisesItsDigest(t *testing.T) {
	rules := job.PayloadRules{Own: "own"}
	for ref, want := range map[string]string{"s3://own/payloads/acme/" + sum: sum, "s3://own/payloads/beta/" + sum: "", "s3://own/payloads/acme/a/" + sum: "",
		"s3://other/payloads/acme/" + sum: "", "s3://own/payloads/acme/" + strings.ToUpper(sum): ""} {
		r, err := job.ParsePayloadRef(ref)
		if err != nil {
			t.Fatal(err)
		}
		if got := rules.Pinned("acme", r); got != want {
			t.Errorf("%s promises %q, want %q", ref, got, want)
		}
	}
	if got := (job.PayloadRules{}).Pinned("acme", job.PayloadRef{Key: "payloads/acme/" + sum}); got != "" {
		t.Errorf("without a bucket of its own it promises %q", got)
	}
}

func TestPayloadRulesAreRefusedThatOpenMoreThanTheySay(t *testing.T) {
	for text, right := range map[string]bool{`{"acme":["s3://acme-in/jobs/","s3://b-2/"],"*":["s3://public/"]}`: true, `{}`: true,
		`{"acme":["s3://acme-in/jobs"]}`: false, `{"acme":["s3://acme-in"]}`: false, `{"acme":["s3://acme-in/*/"]}`: false, `{"acme":["acme-in/"]}`: false, `{"Acme":["s3://acme-in/"]}`: false,
		`{"acme":"s3://acme-in/"}`: false, `[]`: false, `{"acme":["s3:///a/"]}`: false} {
		if _, err := job.ReadPayloadRules([]byte(text)); (err == nil) != right {
			t.Errorf("%s: %v, want it to be right: %v", text, err, right)
		}
	}
}
