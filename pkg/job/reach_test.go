package job_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestReachIsReadFromAddressesNetworksAndNames(t *testing.T) {
	r, err := job.ParseReach([]string{"127.0.0.1", " 10.1.2.3/8", "::1", "API.example.internal", "*.apps.example.internal"})
	if err != nil || len(r.Networks) != 3 || r.Networks[1].String() != "10.0.0.0/8" || !slices.Equal(r.Hosts, []string{"api.example.internal", "*.apps.example.internal"}) {
		t.Errorf("%+v, %v", r, err)
	}
	for host, want := range map[string]bool{"api.example.internal": true, "API.Example.Internal.": true, "x.api.example.internal": false, "a.apps.example.internal": true, "a.b.apps.example.internal": true,
		"apps.example.internal": false, "evil-apps.example.internal": false, ".apps.example.internal": false, "": false, "api.example.internal.evil.com": false} {
		if got := r.Named(host); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
	for _, word := range []string{"", "localhost", "10.0.0.0/33", "fe80::1%eth0", "*", "*.internal.*", "a b.example.com", "example..com", "-a.example.com", "169.254", "*.com.", strings.Repeat("a.", 130) + "com"} {
		if r, err := job.ParseReach([]string{word}); job.CodeOf(err) != job.CodeInvalid {
			t.Errorf("%q reads as %+v, %v", word, r, err)
		}
	}
}

func TestReferencesToSecretsAreRead(t *testing.T) {
	const arn = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:hooks/billing-AbCdEf"
	for text, want := range map[string]struct {
		before string
		ref    job.SecretRef
		holds  bool
	}{
		"plain":                 {"plain", job.SecretRef{}, false},
		"Bearer plain":          {"Bearer plain", job.SecretRef{}, false},
		"secretsmanager:" + arn: {"", job.SecretRef{Store: "secretsmanager", Name: arn}, true},
		"Bearer secretsmanager:" + arn + "#token": {"Bearer ", job.SecretRef{Store: "secretsmanager", Name: arn, Key: "token"}, true},
		"ssm:/billing/token":                      {"", job.SecretRef{Store: "ssm", Name: "/billing/token"}, true},
		"token=ssm:/billing/token":                {"token=ssm:/billing/token", job.SecretRef{}, false},
		"ssm:/billing/token and more behind it":   {"ssm:/billing/token and more behind it", job.SecretRef{}, false},
	} {
		before, ref, holds, err := job.SecretIn(text)
		if before != want.before || ref != want.ref || holds != want.holds || err != nil {
			t.Errorf("%q: %q, %+v, %v, %v", text, before, ref, holds, err)
		}
		if holds && before+ref.String() != text {
			t.Errorf("%q comes back as %q", text, before+ref.String())
		}
	}
	for _, text := range []string{"secretsmanager:hooks", "secretsmanager:" + arn + "#", "secretsmanager:arn:aws:ssm:eu-west-1:111122223333:parameter/x", "ssm:billing", "ssm:", "ssm:/a/../b c", "ssm:/a//b",
		"ssm:/" + strings.Repeat("a", 1011), "vault:x", "secretsmanager:" + arn + "#a\nb"} {
		if ref, err := job.ParseSecretRef(text); job.CodeOf(err) != job.CodeInvalid {
			t.Errorf("%q reads as %+v", text, ref)
		}
	}
}

func TestOnlySecretsThatARuleTakesInAreAllowed(t *testing.T) {
	const begin = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:"
	rules := []string{"secretsmanager:" + begin + "hooks-AbCdEf", "secretsmanager:" + begin + "jobs/*", "ssm:/billing/*"}
	if err := job.CheckSecretRules(rules); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"secretsmanager:" + begin + "hooks-AbCdEf": true, "secretsmanager:" + begin + "hooks-AbCdEf#key": true, "secretsmanager:" + begin + "hooks-AbCdEfg": false,
		"secretsmanager:" + begin + "jobs/a-AbCdEf#k": true, "secretsmanager:" + begin + "job": false, "ssm:/billing/token": true, "ssm:/billing": false, "ssm:/other": false} {
		ref, err := job.ParseSecretRef(text)
		if got := ref.Allowed(rules); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
		if ref.Allowed(nil) {
			t.Errorf("%s is allowed by nothing", text)
		}
	}
	for _, rule := range []string{"", "*", "ssm:*", "ssm:", "secretsmanager:*", "secretsmanager:" + begin + "a#key", "hooks", "ssm:/a*b"} {
		if err := job.CheckSecretRules([]string{rule}); job.CodeOf(err) != job.CodeInvalid {
			t.Errorf("the rule %q is taken: %v", rule, err)
		}
	}
	if err := job.CheckSecretRules([]string{"ssm:/*"}); err != nil {
		t.Errorf("all parameters: %v", err)
	}
}
