package assemble

import (
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/observe/otlp"
)

// MostRetention is how many days ended executions can be kept.
const MostRetention = 3653

// MostShards is how many shards a layout can have.
const MostShards = 4096

// Environment is what functions and container workers are told by environment
// variables (Variables lists them). The zero value is not usable: read it.
type Environment struct {
	Prefix        string
	Shards        int
	RestoreEpoch  int64
	Pools         dispatch.Pools // nil = those that ship
	Types         []string       // job types; nil = a job has none
	Retention     time.Duration  // how long ended executions are kept
	Pool          string         // empty = every pool
	WebhookSecret string         // "whsec_…"; empty = webhook calls are not signed
	// WebhookSecretARN names a secret of Secrets Manager that holds the key; empty =
	// there is none. The function work fetches it, nothing else does.
	WebhookSecretARN string
	WebhookAllow     job.Reach
	Secrets          []string // that jobs may refer to, by the rules of job.SecretRef; nil = none
	LogLevel         slog.Level
	Metrics          bool          // whether figures are written among the log lines
	Traces           otlp.Settings // by the variables of OpenTelemetry
	Version          string
	Payloads         map[string][]string // beginnings of references to payloads by tenant, as job.PayloadRules has them; nil = none
	Bucket           string              // for what is too large for the tables; empty = nowhere
	ArchiveBucket    string              // where transitions and audit entries are archived; empty = nowhere
	Breaker          lifecycle.BreakerRules
	NoBreaker        bool   // there are no circuit breakers
	Health           string // where a container worker answers how it is, host:port; empty = nowhere
}

// Variable is one variable of the environment.
type Variable struct {
	Name    string
	Default string // what it is when it is absent or empty; empty = nothing
	Bound   string // which values are allowed
	Meaning string
	Secret  bool // its value is never shown

	read func(e *Environment, value string) error
}

// Variables lists the environment, in the order in which it is documented.
// Region, endpoints and credentials are the SDK's own variables, and traces are
// set by those of OpenTelemetry.
var Variables = []Variable{
	{Name: "BELFRY_PREFIX", Default: "belfry", Bound: "1 to 32 of a-z and 0-9",
		Meaning: "Begins the names of the installation's tables and queues, up to the first hyphen.", read: readPrefix},
	{Name: "BELFRY_SHARDS", Default: "256", Bound: "1 to " + strconv.Itoa(MostShards),
		Meaning: "Shards of the first layout; read only while an installation has none.", read: readShards},
	{Name: "BELFRY_RESTORE_EPOCH", Default: "0", Bound: "0 to 2147483647",
		Meaning: "How often the tables were restored from a backup; the high part of every fencing token, so it must never go back.", read: readRestoreEpoch},
	{Name: "BELFRY_POOLS", Bound: "a JSON list of pools",
		Meaning: "The pools of the installation; absent: " + strings.Join(dispatch.Pools(dispatch.DefaultPools()).Names(), ", ") + ", as they ship.", read: readPools},
	{Name: "BELFRY_POOL", Bound: "the name of a pool",
		Meaning: "The pool that this worker serves; absent: all of them.", read: readPool},
	{Name: "BELFRY_TYPES", Bound: "up to " + strconv.Itoa(job.MaxTypes) + " names joined by commas",
		Meaning: "The types that a job may have, by which figures are split; absent: a job has none.", read: readTypes},
	{Name: "BELFRY_RETENTION_DAYS", Default: "30", Bound: "1 to " + strconv.Itoa(MostRetention),
		Meaning: "How many days ended executions, their timelines and the lists of what needs a person are kept.", read: readRetention},
	{Name: "BELFRY_WEBHOOK_SECRET", Bound: "whsec_ and 24 to 64 bytes in base64", Secret: true,
		Meaning: "Signs webhook calls (Standard Webhooks); absent: they are not signed.", read: readWebhookSecret},
	{Name: "BELFRY_WEBHOOK_SECRET_ARN", Bound: "the ARN of a secret in Secrets Manager",
		Meaning: "The secret that holds that key: the function work fetches it once as it starts. Nothing else reads it; container workers are handed the key itself.", read: readWebhookSecretARN},
	{Name: "BELFRY_WEBHOOK_ALLOW", Bound: "IP addresses, networks in CIDR form and host names, joined by commas",
		Meaning: "Addresses that are not public and that webhooks may call all the same. A host name, or *.name for all below it, opens private addresses alone: never loopback, nor link-local ones.", read: readWebhookAllow},
	{Name: "BELFRY_SECRETS", Bound: "secretsmanager:ARN and ssm:/path, with a * at the end for what may follow, joined by commas",
		Meaning: "The secrets that jobs may refer to in headers of webhooks (docs/targets.md); absent: none.", read: readSecrets},
	{Name: "BELFRY_LOG_LEVEL", Default: "info", Bound: "debug, info, warn or error",
		Meaning: "The least severe lines that are logged.", read: readLogLevel},
	{Name: "BELFRY_METRICS", Default: "on", Bound: "on or off",
		Meaning: "Whether functions write their figures among their log lines, in CloudWatch's embedded metric format.", read: readMetrics},
	{Name: "BELFRY_VERSION", Default: "dev", Bound: "up to 64 characters",
		Meaning: "What the API's health answers as its version.", read: readVersion},
	{Name: "BELFRY_BUCKET", Bound: "the name of an S3 bucket",
		Meaning: "Where what is too large for the tables lies: checkpoints of more than 4 KB under checkpoints/, and payloads that tenants store under payloads/; absent: such are refused.", read: readBucket},
	{Name: "BELFRY_PAYLOADS", Bound: `JSON such as {"acme": ["s3://bucket/prefix/"]}, with * for all tenants`,
		Meaning: "Where in S3 the payloads of a tenant's jobs may lie (docs/payloads.md), each ending with a slash; a tenant's own folder in the bucket of BELFRY_BUCKET is open to it in any case. Absent: nowhere else.", read: readPayloads},
	{Name: "BELFRY_ARCHIVE_BUCKET", Bound: "the name of an S3 bucket",
		Meaning: "Where the function archive keeps transitions and audit entries (docs/archive.md); nothing else reads it, and `belfry dev` keeps no archive.", read: readArchiveBucket},
	{Name: "BELFRY_BREAKER", Default: "on", Bound: lifecycle.BreakerBound,
		Meaning: "The circuit breakers of what attempts call (docs/breakers.md): how many failures in a row open one, how far apart they may be, how long it stays open at first and at most, and how many probes close it. " +
			"on is failures=20,within=30s,wait=15s,longest=2m,probes=3; off: there are none.", read: readBreaker},
	{Name: "BELFRY_HEALTH", Bound: "an address and a port, such as 127.0.0.1:8080 or :8080",
		Meaning: "Where a container worker answers /healthz and /readyz, and where `worker --health` asks it; absent: nowhere.", read: readHealth},
}

// ReadEnvironment reads the variables through lookup, os.LookupEnv in a main. An
// empty variable is as good as an absent one. The error joins one *job.Error for
// each variable that is out of bounds, which names variable, value and bound.
func ReadEnvironment(lookup func(name string) (string, bool)) (Environment, error) {
	var e Environment
	var refusals []error
	for _, v := range Variables {
		value, _ := lookup(v.Name)
		value = strings.TrimSpace(value)
		if value == "" {
			value = v.Default
		}
		if value == "" {
			continue
		}
		if err := v.read(&e, value); err != nil {
			refusals = append(refusals, v.refuse(value, err))
		}
	}
	traces, err := otlp.ReadSettings(lookup)
	if err != nil {
		refusals = append(refusals, err)
	}
	e.Traces = traces
	return e, errors.Join(refusals...)
}

func (v Variable) refuse(value string, why error) error {
	shown := job.Shorten(value)
	if v.Secret {
		shown = "(" + strconv.Itoa(len(value)) + " characters, not shown)"
	}
	return &job.Error{Code: job.CodeInvalid, Field: v.Name, Value: shown, Bound: v.Bound, Message: shown + " " + why.Error(),
		Fix: "change the variable, or leave it out"}
}

// Settings are those of the installation that the environment names.
func (e Environment) Settings(log *slog.Logger) Settings {
	return Settings{Prefix: e.Prefix, Shards: e.Shards, RestoreEpoch: e.RestoreEpoch, Pools: e.Pools, Types: e.Types, Retention: e.Retention, Log: log, Payloads: job.PayloadRules{Own: e.Bucket, Allowed: e.Payloads}}
}

// ServedPools are the pools that a worker in this environment serves, out of
// those of the installation.
func (e Environment) ServedPools(all dispatch.Pools) dispatch.Pools {
	if pool, known := all.Find(e.Pool); known {
		return dispatch.Pools{pool}
	}
	return all
}

// prefixForm has no hyphen: the first one in a name ends the prefix. With it the
// pool a-b of the installation belfry and the pool b of belfry-a would be one queue.
var prefixForm = regexp.MustCompile(`^[a-z0-9]{1,32}$`)

func readPrefix(e *Environment, value string) error {
	if !prefixForm.MatchString(value) {
		return errors.New("cannot begin the names of tables and queues")
	}
	e.Prefix = value
	return nil
}

func readShards(e *Environment, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > MostShards {
		return errors.New("is no number of shards")
	}
	e.Shards = n
	return nil
}

func readRestoreEpoch(e *Environment, value string) error {
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || n < 0 {
		return errors.New("is no restore epoch")
	}
	e.RestoreEpoch = n
	return nil
}

func readPools(e *Environment, value string) error {
	pools, err := dispatch.ReadPools([]byte(value))
	if err != nil {
		return fmt.Errorf("cannot be the pools: %w", err)
	}
	e.Pools = pools
	return nil
}

// readPool runs after readPools, as the list of variables says.
func readPool(e *Environment, value string) error {
	pools := e.Pools
	if pools == nil {
		pools = dispatch.DefaultPools()
	}
	if _, known := pools.Find(value); !known {
		return errors.New("is none of the pools " + strings.Join(pools.Names(), ", "))
	}
	e.Pool = value
	return nil
}

func readTypes(e *Environment, value string) error {
	types := strings.Split(value, ",")
	for n := range types {
		types[n] = strings.TrimSpace(types[n])
	}
	if err := job.CheckTypes(types); err != nil {
		return fmt.Errorf("cannot be the job types: %w", err)
	}
	e.Types = types
	return nil
}

func readRetention(e *Environment, value string) error {
	days, err := strconv.Atoi(value)
	if err != nil || days < 1 || days > MostRetention {
		return errors.New("is no number of days to keep executions")
	}
	e.Retention = time.Duration(days) * 24 * time.Hour
	return nil
}

func readWebhookSecret(e *Environment, value string) error {
	encoded, marked := strings.CutPrefix(value, "whsec_")
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if !marked || err != nil || len(raw) < 24 || len(raw) > 64 {
		return errors.New("is no signing key")
	}
	e.WebhookSecret = value
	return nil
}

// SetWebhookSecret takes a key that came from elsewhere than a variable. The
// refusal of one that cannot sign does not show it.
func (e *Environment) SetWebhookSecret(value string) error {
	for _, v := range Variables {
		if v.Name != "BELFRY_WEBHOOK_SECRET" {
			continue
		}
		if err := v.read(e, value); err != nil {
			return v.refuse(value, err)
		}
	}
	return nil
}

func readWebhookSecretARN(e *Environment, value string) error {
	if !secretARN.MatchString(value) {
		return errors.New("names no secret of Secrets Manager")
	}
	e.WebhookSecretARN = value
	return nil
}

var secretARN = regexp.MustCompile(`^arn:[a-z-]+:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[^\s]+$`)

func readWebhookAllow(e *Environment, value string) error {
	reach, err := job.ParseReach(strings.Split(value, ","))
	var refusal *job.Error
	if errors.As(err, &refusal) {
		return errors.New("holds \"" + refusal.Value + "\", which is neither address, network nor host name")
	}
	e.WebhookAllow = reach
	return err
}

func readSecrets(e *Environment, value string) error {
	rules := strings.Split(value, ",")
	for n := range rules {
		rules[n] = strings.TrimSpace(rules[n])
	}
	if err := job.CheckSecretRules(rules); err != nil {
		return errors.New("names no secrets that jobs may refer to")
	}
	e.Secrets = rules
	return nil
}

func readLogLevel(e *Environment, value string) error {
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	level, known := levels[strings.ToLower(value)]
	if !known {
		return errors.New("is no level")
	}
	e.LogLevel = level
	return nil
}

func readMetrics(e *Environment, value string) error {
	if value != "on" && value != "off" {
		return errors.New("is neither on nor off")
	}
	e.Metrics = value == "on"
	return nil
}

func readVersion(e *Environment, value string) error {
	if len(value) > 64 {
		return errors.New("is too long")
	}
	e.Version = value
	return nil
}

var bucketForm = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

func readBucket(e *Environment, value string) error {
	if !bucketForm.MatchString(value) {
		return errors.New("is no bucket's name")
	}
	e.Bucket = value
	return nil
}

func readPayloads(e *Environment, value string) error {
	allowed, err := job.ReadPayloadRules([]byte(value))
	var refusal *job.Error
	switch {
	case errors.As(err, &refusal):
		return errors.New("holds " + refusal.Value + ", where " + refusal.Bound + " is allowed")
	case err != nil:
		return err
	}
	e.Payloads = allowed
	return nil
}

func readArchiveBucket(e *Environment, value string) error {
	if !bucketForm.MatchString(value) {
		return errors.New("is no bucket's name")
	}
	e.ArchiveBucket = value
	return nil
}

func readBreaker(e *Environment, value string) error {
	rules, on, err := lifecycle.ParseBreakerRules(value)
	e.Breaker, e.NoBreaker = rules, !on
	return err
}

func readHealth(e *Environment, value string) error {
	host, port, err := net.SplitHostPort(value)
	if err != nil {
		return errors.New("is no address with a port")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return errors.New("has a port that is none")
	}
	if _, err := netip.ParseAddr(host); host != "" && host != "localhost" && err != nil {
		return errors.New("has a host that is no address of this machine")
	}
	e.Health = value
	return nil
}
