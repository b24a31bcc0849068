package settings_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/belfry-scheduler/belfry/infra/settings"
	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

var update = flag.Bool("update", false, "write docs/settings.md")

func nothing(string) (string, bool) { return "", false }

func said(context map[string]string) settings.Lookup {
	return func(key string) (string, bool) { value, is := context[key]; return value, is }
}

func read(file string, context settings.Lookup) (settings.Settings, dispatch.Pools, error) {
	return settings.Read(fstest.MapFS{"belfry.yaml": {Data: []byte(file)}, "pools/own.yaml": {Data: []byte("pools: [{name: fast-io, batch: 5}, {name: reports, kind: ecs}]")}},
		"belfry.yaml", context)
}

// own are settings with a network that is there.
const own = "workers: {vpc_id: vpc-12345678, subnet_ids: [subnet-12345678], availability_zones: [eu-west-1a]"

func inOwn(s *settings.Settings) {
	s.Workers.VPCID, s.Workers.SubnetIDs, s.Workers.AvailabilityZones = "vpc-12345678", []string{"subnet-12345678"}, []string{"eu-west-1a"}
}

func TestTheFileStandsOnTheProfileAndTheContextOnTheFile(t *testing.T) {
	for sentence, row := range map[string]struct {
		file    string
		context map[string]string
		want    func(s *settings.Settings)
	}{
		"an empty file is a small installation": {"", nil, func(*settings.Settings) {}},
		"a file changes what it names":          {"profile: small\nprefix: acme\napi: {rate: 7}", nil, func(s *settings.Settings) { s.Prefix, s.API.Rate = "acme", 7 }},
		"the context changes what it names":     {"prefix: acme", map[string]string{"belfry:prefix": "other", "belfry:api.rate": "9"}, func(s *settings.Settings) { s.Prefix, s.API.Rate = "other", 9 }},
		"the context has lists":                 {"", map[string]string{"belfry:alarms.emails": "a@example.com, b@example.com"}, func(s *settings.Settings) { s.Alarms.Emails = []string{"a@example.com", "b@example.com"} }},
		"the context can empty a list":          {"alarms: {emails: [a@example.com]}", map[string]string{"belfry:alarms.emails": ""}, func(*settings.Settings) {}},
		"a network of one's own is private":     {own + "}", nil, func(s *settings.Settings) { inOwn(s); s.Workers.PublicIP = false }},
		"unless the file says that it is not":   {own + ", public_ip: true}", nil, inOwn},
		"or the context does":                   {own + "}", map[string]string{"belfry:workers.public_ip": "true"}, inOwn},
		"the context switches":                  {"", map[string]string{"belfry:tick_enabled": "false"}, func(s *settings.Settings) { s.TickEnabled = false }},
		"the context can name another profile":  {"prefix: acme", map[string]string{"belfry:profile": "large"}, func(s *settings.Settings) { *s, _ = settings.OfProfile("large"); s.Prefix = "acme" }},
		"a list in the file stands for the whole list": {"profile: large\nfunctions: {pollers: [{pool: cpu-heavy, least: 2}]}", nil, func(s *settings.Settings) {
			*s, _ = settings.OfProfile("large")
			s.Functions.Pollers = settings.Pollers{{Pool: "cpu-heavy", Least: 2}}
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			want, _ := settings.OfProfile("small")
			row.want(&want)
			got, pools, err := read(row.file, said(row.context))
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("read %+v, %v\nwant %+v", got, err, want)
			}
			if !reflect.DeepEqual(pools, dispatch.Pools(dispatch.DefaultPools())) {
				t.Errorf("the pools are %+v", pools)
			}
		})
	}
}

func TestPoolsComeFromTheFileThatTheSettingsName(t *testing.T) {
	_, pools, err := read("pools_file: pools/own.yaml", nothing)
	if err != nil || !reflect.DeepEqual(pools.Names(), []string{"fast-io", "reports"}) || pools[0].Batch != 5 || pools[1].Kind != dispatch.KindECS {
		t.Errorf("the pools are %+v, %v", pools, err)
	}
}

// refusedSettings are files and contexts that say what cannot be.
var refusedSettings = map[string]struct {
	file, context string // the context as key=value
	field, bound  string // of the refusal; a bound alone is a part of the error's text
}{
	"a profile that is none":                {"profile: huge", "", "profile", "small or large"},
	"a key that is none":                    {"profle: small", "", "", `unknown field "profle"`},
	"a word in place of a number":           {"shards: many", "", "", "cannot unmarshal"},
	"not YAML":                              {"a: [", "", "", "not YAML"},
	"a prefix that begins no stack's name":  {"prefix: 1st", "", "prefix", "a-z"},
	"a prefix that is another's and a pool": {"prefix: belfry-fast", "", "prefix", "[a-z0-9]{0,31}"},
	"a prefix too long for names":           {"prefix: " + strings.Repeat("a", 33), "", "prefix", "{0,31}"},
	"more shards than a layout has":         {"shards: 5000", "", "shards", "1 to 4096"},
	"a processor that is none":              {"architecture: arm", "", "architecture", "arm64 or x86_64"},
	"breakers that are neither on nor off":  {"breaker: maybe", "", "breaker", "on, off"},
	"breakers of no probes":                 {"", "belfry:breaker=probes=0", "breaker", "on, off"},
	"a type that is no name":                {"types: [A]", "", "types", job.NamePattern},
	"a type that is said twice":             {"", "belfry:types=a, a", "types", "once"},
	"executions that are kept for no day":   {"retention_days: 0", "", "retention_days", "1 to 3653"},
	"days that logs cannot be kept":         {"log_days: 31", "", "log_days", "30, 60"},
	"a number in the context that is none":  {"", "belfry:shards=many", "shards", "1 to 4096"},
	"a switch in the context that is none":  {"", "belfry:tick_enabled=maybe", "tick_enabled", "true or false"},
	"a list of things in the context":       {"", "belfry:functions.pollers=fast-io", "functions.pollers", "a list"},
	"tokens without an issuer":              {"api: {authorizer: jwt}", "", "api.authorizer", "jwt_issuer"},
	"a domain without a certificate":        {"api: {domain: jobs.example.com}", "", "api.domain", "both or neither"},
	"a zone without a domain":               {"api: {hosted_zone_id: Z1, hosted_zone_name: example.com}", "", "api.hosted_zone_id", "domain"},
	"a network without subnets":             {"workers: {vpc_id: vpc-0123456789abcdef0}", "", "workers.vpc_id", "subnet_ids"},
	"workers without a way out":             {"workers: {public_ip: false}", "", "workers.public_ip", "nat_gateways"},
	"an address that is none":               {"webhooks: {allow: [localhost]}", "", "webhooks.allow", "CIDR"},
	"pollers for a pool that is not there":  {"functions: {pollers: [{pool: slow, least: 2}]}", "", "functions.pollers", "kind lambda"},
	"pollers for a pool of containers":      {"functions: {pollers: [{pool: long-running, least: 2}]}", "", "functions.pollers", "kind lambda"},
	"fewer pollers than Lambda has":         {"functions: {pollers: [{pool: fast-io, least: 1}]}", "", "functions.pollers", "2 to 20"},
	"pollers above the pool's ceiling":      {"functions: {pollers: [{pool: fast-io, least: 21}]}", "", "functions.pollers", "2 to 20, a tenth of the pool's max_concurrency"},
	"pollers for a pool with a low ceiling": {"functions: {pollers: [{pool: external-api, least: 2}]}", "", "functions.pollers", "max_concurrency"},
	"an address that nothing is sent to":    {"", "belfry:alarms.emails=notanemail", "alarms.emails", "ops@example.com"},
	"an address with a name before it":      {"alarms: {emails: [\"Ops <ops@example.com>\"]}", "", "alarms.emails", "ops@example.com"},
	"addresses that nobody would tell":      {"alarms: {emails: [ops@example.com], topic_arn: \"arn:aws:sns:eu-west-1:111122223333:ops\"}", "", "alarms.emails", "none with alarms.topic_arn"},
	"less scanning than a mapping can have": {"functions: {scan_concurrency: 1}", "", "functions.scan_concurrency", "2 to 1000"},
	"a key that is no ARN":                  {"tables: {key_arn: alias/mine}", "", "tables.key_arn", "kms"},
	"a bucket whose name would be too long": {"prefix: " + strings.Repeat("a", 28), "", "prefix", "27 characters"},
	"locks that outlast what they lock":     {"archive: {keep_days: 90, cold_days: 0, lock_days: 91}", "", "archive.lock_days", "at most keep_days"},
	"objects that move when they go":        {"archive: {keep_days: 90}", "", "archive.cold_days", "less than keep_days"},
	"a lock of no kind":                     {"archive: {lock_mode: strict}", "", "archive.lock_mode", "governance or compliance"},
	"a window longer than a mapping's":      {"archive: {window_seconds: 301}", "", "archive.window_seconds", "0 to 300"},
	"a pools file that is not there":        {"pools_file: nowhere.yaml", "", "", "read the pools"},
	"a pools file with something else":      {"pools_file: belfry.yaml", "", "", "not a file of pools"},
}

func TestSettingsThatCannotBeDeployedAreRefused(t *testing.T) {
	for sentence, row := range refusedSettings {
		t.Run(sentence, func(t *testing.T) {
			key, value, is := strings.Cut(row.context, "=")
			_, _, err := read(row.file, func(asked string) (string, bool) { return value, is && asked == key })
			if err == nil {
				t.Fatal("accepted")
			}
			var refusal *job.Error
			if row.field == "" {
				if !strings.Contains(err.Error(), row.bound) {
					t.Errorf("refused with %v, want %s", err, row.bound)
				}
			} else if !errors.As(err, &refusal) || refusal.Field != row.field || !strings.Contains(refusal.Bound, row.bound) {
				t.Errorf("refused with %v, want %s and %s", err, row.field, row.bound)
			}
		})
	}
}

func TestEveryFaultIsToldAtOnce(t *testing.T) {
	_, _, err := read("shards: 0\narchitecture: mips\napi: {authorizer: jwt}", nothing)
	for _, field := range []string{"shards", "architecture", "api.authorizer"} {
		if err == nil || !strings.Contains(err.Error(), field+":") {
			t.Errorf("%v does not name %s", err, field)
		}
	}
}

func TestPoolsThatNoEnvironmentHoldsAreRefused(t *testing.T) {
	var file strings.Builder
	file.WriteString("pools:\n- name: fast-io\n")
	for n := range 30 {
		fmt.Fprintf(&file, "- name: pool-%d\n", n)
	}
	_, _, err := settings.Read(fstest.MapFS{"belfry.yaml": {Data: []byte("pools_file: many.yaml")}, "many.yaml": {Data: []byte(file.String())}}, "belfry.yaml", nothing)
	if err == nil || !strings.Contains(err.Error(), "3000 bytes") {
		t.Errorf("refused with %v", err)
	}
}

func TestAPoolWhoseFunctionWouldHaveTooLongANameIsRefused(t *testing.T) {
	prefix, pool := strings.Repeat("a", 30), strings.Repeat("p", 29)
	for length, refused := range map[int]bool{64: false, 65: true} {
		file := "pools: [{name: fast-io}, {name: " + pool[:length-36] + "}]"
		_, _, err := settings.Read(fstest.MapFS{"belfry.yaml": {Data: []byte("pools_file: own.yaml\narchive: {enabled: false}\nprefix: " + prefix)}, "own.yaml": {Data: []byte(file)}}, "belfry.yaml", nothing)
		if (err != nil) != refused || (refused && !strings.Contains(err.Error(), "64 characters")) {
			t.Errorf("a name of %d characters: refused with %v, want a refusal: %v", length, err, refused)
		}
	}
}

func TestTheFilesThatShipAreRight(t *testing.T) {
	files := os.DirFS("..")
	s, _, err := settings.Read(files, "belfry.yaml", nothing)
	if want, _ := settings.OfProfile("small"); err != nil || !reflect.DeepEqual(s, want) {
		t.Errorf("belfry.yaml is %+v, %v", s, err)
	}
	_, pools, err := settings.Read(files, "belfry.yaml", said(map[string]string{"belfry:pools_file": "pools.yaml"}))
	if err != nil || !reflect.DeepEqual(pools, dispatch.Pools(dispatch.DefaultPools())) {
		t.Errorf("pools.yaml holds %+v, %v; want the pools that ship", pools, err)
	}
}

const page = "../../docs/settings.md"

func TestTheSettingsAreDocumented(t *testing.T) {
	small, _ := settings.OfProfile("small")
	large, _ := settings.OfProfile("large")
	var b strings.Builder
	b.WriteString("# Settings\n\nWhat an operator decides about an installation: `infra/belfry.yaml`, or another file (`-c belfry:settings=path`). Any key can be said for one\n" +
		"command: `cdk deploy --all -c belfry:api.rate=200`. This page is made from the struct `settings.Settings`.\n\n" +
		"| key | small | large | allowed | meaning |\n|---|---|---|---|---|\n")
	of := settings.Keys(&large)
	for n, k := range settings.Keys(&small) {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", k.Path, shown(k.Text()), shown(of[n].Text()), strings.ReplaceAll(k.Bound, "|", "\\|"), k.Doc)
		if k.Doc == "" {
			t.Errorf("%s has no meaning", k.Path)
		}
	}
	b.WriteString("\nPools are a file of their own, since functions and workers read them too: `infra/pools.yaml` holds those that ship, with every key.\n`belfry dev --pools FILE` reads the same file.\n")
	if *update {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if written, err := os.ReadFile(page); err != nil || string(written) != b.String() {
		t.Errorf("docs/settings.md is out of date (%v); run the test with -update", err)
	}
}

func shown(value string) string {
	if value == "" {
		return "none"
	}
	return "`" + value + "`"
}
