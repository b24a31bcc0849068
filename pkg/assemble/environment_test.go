package assemble_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

func lookup(set map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, found := set[name]
		return value, found
	}
}

const (
	key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	arn = "arn:aws:secretsmanager:eu-central-1:111122223333:secret:hooks-AbCdEf"
)

func TestReadEnvironment(t *testing.T) {
	defaults := assemble.Environment{Prefix: "belfry", Shards: 256, Retention: 30 * 24 * time.Hour, LogLevel: slog.LevelInfo, Metrics: true, Version: "dev",
		Breaker: lifecycle.DefaultBreakerRules()}
	for _, c := range []struct {
		name string
		set  map[string]string
		want func(*assemble.Environment)
	}{
		{"nothing set gives the defaults", nil, func(*assemble.Environment) {}},
		{"empty is absent", map[string]string{"BELFRY_SHARDS": "", "BELFRY_PREFIX": " ", "BELFRY_LOG_LEVEL": ""}, func(*assemble.Environment) {}},
		{"every variable is read", map[string]string{"BELFRY_PREFIX": "acme7", "BELFRY_SHARDS": "4096", "BELFRY_RESTORE_EPOCH": "3", "BELFRY_POOL": "cpu-heavy",
			"BELFRY_WEBHOOK_SECRET": key, "BELFRY_WEBHOOK_SECRET_ARN": arn, "BELFRY_WEBHOOK_ALLOW": "127.0.0.1, 10.1.2.3/8,::1,api.example.internal", "BELFRY_SECRETS": "ssm:/jobs/*", "BELFRY_LOG_LEVEL": "Warn", "BELFRY_METRICS": "off",
			"BELFRY_VERSION": "1.2.3", "BELFRY_HEALTH": ":8080", "BELFRY_ARCHIVE_BUCKET": "acme7-archive", "BELFRY_BUCKET": "acme7-data", "BELFRY_PAYLOADS": `{"acme":["s3://acme-in/"]}`, "BELFRY_TYPES": "report, billing", "BELFRY_RETENTION_DAYS": "400",
			"BELFRY_BREAKER": "failures=5, within=1m,wait=1s,longest=15m,probes=1"},
			func(e *assemble.Environment) {
				*e = assemble.Environment{Prefix: "acme7", Shards: 4096, RestoreEpoch: 3, Pool: "cpu-heavy", WebhookSecret: key, WebhookSecretARN: arn, LogLevel: slog.LevelWarn, Version: "1.2.3", Health: ":8080", ArchiveBucket: "acme7-archive", Bucket: "acme7-data", Payloads: map[string][]string{"acme": {"s3://acme-in/"}},
					Types: []string{"report", "billing"}, Retention: 400 * 24 * time.Hour,
					WebhookAllow: job.Reach{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}, Hosts: []string{"api.example.internal"}},
					Secrets:      []string{"ssm:/jobs/*"},
					Breaker:      lifecycle.BreakerRules{Failures: 5, Within: time.Minute, Wait: time.Second, Longest: 15 * time.Minute, Probes: 1}}
			}},
		{"breakers can be turned off", map[string]string{"BELFRY_BREAKER": "off"}, func(e *assemble.Environment) { e.NoBreaker = true }},
		{"what is not said of breakers stays", map[string]string{"BELFRY_BREAKER": "probes=7"}, func(e *assemble.Environment) { e.Breaker.Probes = 7 }},
		{"a pool of the installation's own can be served", map[string]string{"BELFRY_POOLS": `[{"name":"fast-io"},{"name":"reports"}]`, "BELFRY_POOL": "reports"},
			func(e *assemble.Environment) {
				pools, err := dispatch.ReadPools([]byte(`[{"name":"fast-io"},{"name":"reports"}]`))
				if err != nil {
					t.Fatal(err)
				}
				e.Pools, e.Pool = pools, "reports"
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := defaults
			c.want(&want)
			got, err := assemble.ReadEnvironment(lookup(c.set))
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("read %+v, %v; want %+v", got, err, want)
			}
		})
	}
}

func TestAVariableOutOfBoundsIsRefusedByNameValueAndBound(t *testing.T) {
	for _, c := range []struct{ name, value string }{
		{"BELFRY_PREFIX", "Acme"}, {"BELFRY_PREFIX", "-a"}, {"BELFRY_PREFIX", "acme-7"}, {"BELFRY_PREFIX", strings.Repeat("a", 33)},
		{"BELFRY_SHARDS", "0"}, {"BELFRY_SHARDS", "4097"}, {"BELFRY_SHARDS", "many"}, {"BELFRY_SHARDS", "1e3"},
		{"BELFRY_RESTORE_EPOCH", "-1"}, {"BELFRY_RESTORE_EPOCH", "2147483648"},
		{"BELFRY_TYPES", "report,,billing"}, {"BELFRY_TYPES", "none"}, {"BELFRY_TYPES", "a,a"}, {"BELFRY_RETENTION_DAYS", "0"}, {"BELFRY_RETENTION_DAYS", "3654"}, {"BELFRY_RETENTION_DAYS", "30d"},
		{"BELFRY_POOL", "slow-io"}, {"BELFRY_POOLS", "fast-io"}, {"BELFRY_POOLS", "[]"}, {"BELFRY_LOG_LEVEL", "loud"}, {"BELFRY_METRICS", "yes"}, {"BELFRY_VERSION", strings.Repeat("v", 65)},
		{"BELFRY_BUCKET", "s3://acme"}, {"BELFRY_PAYLOADS", "s3://acme/"}, {"BELFRY_PAYLOADS", `{"acme":["s3://acme/in"]}`}, {"BELFRY_ARCHIVE_BUCKET", "s3://acme"}, {"BELFRY_ARCHIVE_BUCKET", "Acme"}, {"BELFRY_ARCHIVE_BUCKET", "a"},
		{"BELFRY_BREAKER", "yes"}, {"BELFRY_BREAKER", "failures=1"}, {"BELFRY_BREAKER", "failures=many"}, {"BELFRY_BREAKER", "wait=20m"}, {"BELFRY_BREAKER", "within=0s"},
		{"BELFRY_BREAKER", "probes=2,probes=3"}, {"BELFRY_BREAKER", "wait=1m,longest=30s"}, {"BELFRY_BREAKER", "on,probes=2"}, {"BELFRY_BREAKER", "failures"},
		{"BELFRY_HEALTH", "8080"}, {"BELFRY_HEALTH", ":0"}, {"BELFRY_HEALTH", ":http"}, {"BELFRY_HEALTH", "example.com:8080"}, {"BELFRY_HEALTH", "127.0.0.1:65536"},
		{"BELFRY_WEBHOOK_ALLOW", "localhost"}, {"BELFRY_WEBHOOK_ALLOW", "10.0.0.0/33"}, {"BELFRY_WEBHOOK_ALLOW", "127.0.0.1,,::1"}, {"BELFRY_WEBHOOK_ALLOW", "fe80::1%eth0"}, {"BELFRY_SECRETS", "everything"}, {"BELFRY_SECRETS", "*"},
		{"BELFRY_WEBHOOK_SECRET_ARN", "hooks"}, {"BELFRY_WEBHOOK_SECRET", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}, {"BELFRY_WEBHOOK_SECRET", "whsec_c2hvcnQ="}, {"BELFRY_WEBHOOK_SECRET", "whsec_!!!"},
	} {
		t.Run(c.name+"="+job.Shorten(c.value), func(t *testing.T) {
			_, err := assemble.ReadEnvironment(lookup(map[string]string{c.name: c.value}))
			var refusal *job.Error
			if !errors.As(err, &refusal) {
				t.Fatalf("accepted, or refused with %v", err)
			}
			if refusal.Field != c.name || refusal.Bound == "" || !strings.Contains(err.Error(), c.name) || !strings.Contains(err.Error(), refusal.Bound) {
				t.Errorf("the refusal %q does not name variable and bound", err)
			}
			if secret := c.name == "BELFRY_WEBHOOK_SECRET"; strings.Contains(err.Error(), job.Shorten(c.value)) == secret {
				t.Errorf("the refusal %q shows the value: %v, want %v", err, !secret, secret)
			}
		})
	}
}

func TestEveryWrongVariableIsToldAtOnce(t *testing.T) {
	_, err := assemble.ReadEnvironment(lookup(map[string]string{"BELFRY_SHARDS": "none", "BELFRY_POOL": "none"}))
	if err == nil || !strings.Contains(err.Error(), "BELFRY_SHARDS") || !strings.Contains(err.Error(), "BELFRY_POOL") {
		t.Errorf("refused with %v, want both variables named", err)
	}
}

func TestServedPools(t *testing.T) {
	all := dispatch.Pools(dispatch.DefaultPools())
	if got := (assemble.Environment{}).ServedPools(all); len(got) != len(all) {
		t.Errorf("without a pool named, %d pools are served, want all %d", len(got), len(all))
	}
	if got := (assemble.Environment{Pool: "cpu-heavy"}).ServedPools(all).Names(); !reflect.DeepEqual(got, []string{"cpu-heavy"}) {
		t.Errorf("served are %v, want the pool named", got)
	}
}

const environmentPage = "../../docs/environment.md"

// commandLine is what cmd/belfry reads, which is told nothing of the above.
const commandLine = "\n## The command line\n\n" +
	"| variable | default | allowed | meaning |\n|---|---|---|---|\n" +
	"| `BELFRY_URL` | `http://127.0.0.1:8420` | an http or https URL | The address of the API: the output `Url` of the stack `api`. |\n" +
	"| `BELFRY_AUTH` | none | iam or bearer | How it says who calls. With iam calls are signed (SigV4, `execute-api`) with the credentials that the AWS command " +
	"line would use; the region is the one in the API's address, behind a domain of one's own that of `AWS_REGION` or the profile. With bearer, or without " +
	"a value, `BELFRY_TOKEN` is sent. |\n" +
	"| `BELFRY_TOKEN` | none | a token | The bearer token of an API with `api.authorizer: jwt`. A secret: never logged. |\n" +
	"| `NO_COLOR` | none | anything | Leaves colours out. |\n"

// UPDATE_GOLDEN=1 writes the page.
func TestTheEnvironmentIsDocumented(t *testing.T) {
	var page strings.Builder
	page.WriteString("# Environment\n\nWhat functions and container workers are told by environment variables. This page is made from `assemble.Variables`.\n" +
		"Region, endpoints and credentials are the AWS SDK's own variables.\n\n| variable | default | allowed | meaning |\n|---|---|---|---|\n")
	for _, v := range assemble.Variables {
		def := "none"
		if v.Default != "" {
			def = "`" + v.Default + "`"
		}
		meaning := v.Meaning
		if v.Secret {
			meaning += " A secret: never logged."
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s | %s |\n", v.Name, def, v.Bound, meaning)
	}
	page.WriteString(commandLine)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(environmentPage, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(environmentPage)
	if err != nil || string(written) != page.String() {
		t.Errorf("docs/environment.md is out of date (%v); run the test with UPDATE_GOLDEN=1", err)
	}
}
