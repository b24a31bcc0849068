package settings

// Settings of one installation. The tags are the reference: `doc` says what a
// key means, `least` and `most` bound a number, `one` lists the allowed words,
// `form` is the pattern of a text. An empty text is allowed where `empty` says
// what it means.
type Settings struct {
	Profile       string   `yaml:"profile" one:"small large" doc:"Where every other key takes its value from that the file does not set."`
	Prefix        string   `yaml:"prefix" form:"^[a-z][a-z0-9]{0,31}$" doc:"Begins the names of everything that has one, up to the first hyphen; installations in one account need prefixes of their own."`
	Shards        int      `yaml:"shards" least:"1" most:"4096" doc:"Shards of the first layout; read only while an installation has none."`
	RestoreEpoch  int      `yaml:"restore_epoch" least:"0" most:"2147483647" doc:"How often the tables were restored from a backup. It must never go back."`
	Types         []string `yaml:"types" doc:"The types that a job may have, at most 20. Figures are split by them, and each is a metric to pay for: docs/metrics.md."`
	RetentionDays int      `yaml:"retention_days" least:"1" most:"3653" doc:"How many days ended executions, their timelines and the lists of what needs a person are kept; the list of recent executions reaches 31 days back in any case. It counts from an execution's end, so a change is for what ends from then on."`
	Architecture  string   `yaml:"architecture" one:"arm64 x86_64" doc:"What functions and containers are built for and run on. Set it in infra/belfry.yaml, where make reads it, too; said in the context or in another file, the build has to be told as well: ARCH=x86_64 in the environment. Programs of another architecture are refused."`
	Version       string   `yaml:"version" form:"^.{1,64}$" doc:"What the API's health answers as its version."`
	LogLevel      string   `yaml:"log_level" one:"debug info warn error" doc:"The least severe lines that are logged."`
	LogDays       int      `yaml:"log_days" one:"1 3 5 7 14 30 60 90 120 150 180 365 400 545 731 1827 3653" doc:"How many days logs are kept."`
	Metrics       bool     `yaml:"metrics" doc:"Whether functions tell figures, and dashboard and alarms are made of them. CloudWatch charges for each metric: docs/metrics.md."`
	Breaker       string   `yaml:"breaker" doc:"The circuit breakers of what attempts call (docs/breakers.md): on, off, or some of failures=20,within=30s,wait=15s,longest=2m,probes=3, which is what on means."`
	TickEnabled   bool     `yaml:"tick_enabled" doc:"Whether the minute tick runs. Off, it is neither started nor does it go on by itself, and nothing new becomes due: for a restore."`
	PoolsFile     string   `yaml:"pools_file" empty:"the pools that ship" doc:"The file of pools, relative to the settings file."`

	Targets []string `yaml:"targets" doc:"What jobs may call in AWS: ARNs of Lambda functions, SQS queues, SNS topics, event buses, state machines, ECS task definitions with their clusters, the roles that tasks get, KMS keys. A * at the end stands for what may follow. Workers get the rights to these and no other: docs/targets.md."`
	Secrets []string `yaml:"secrets" doc:"What jobs may refer to in headers of webhooks: secretsmanager:ARN and ssm:/path, with a * at the end for what may follow. Workers may read these and no other: docs/targets.md."`

	Payloads Payloads `yaml:"payloads" doc:"Where in S3 the payloads of a tenant's jobs may lie, beside its folder in the installation's own bucket: {tenant: acme, from: \"s3://acme-in/jobs/\"}, with tenant * for all. Workers get the right to read these and no other; the key of a bucket that is encrypted by one goes into targets: docs/payloads.md."`

	Tables    Tables    `yaml:"tables"`
	Bucket    Bucket    `yaml:"bucket"`
	Functions Functions `yaml:"functions"`
	API       API       `yaml:"api"`
	Workers   Workers   `yaml:"workers"`
	Webhooks  Webhooks  `yaml:"webhooks"`
	Traces    Traces    `yaml:"traces"`
	Archive   Archive   `yaml:"archive"`
	Alarms    Alarms    `yaml:"alarms"`
}

// Tables are the settings of the three tables and, for the key, the queues.
type Tables struct {
	DeletionProtection  bool   `yaml:"deletion_protection" doc:"Whether DynamoDB refuses to delete the tables. They are retained by the stack in any case."`
	KeyARN              string `yaml:"key_arn" empty:"AWS owned keys" form:"^arn:[a-z-]+:kms:[a-z0-9-]+:[0-9]{12}:key/[a-zA-Z0-9-]+$" doc:"The KMS key that encrypts tables and queues."`
	WarmReads           int    `yaml:"warm_reads" least:"0" most:"4000000" doc:"Read units a second that tables and indexes are warmed for; 0 leaves them as they come (12000)."`
	WarmWrites          int    `yaml:"warm_writes" least:"0" most:"1000000" doc:"Write units a second that tables and indexes are warmed for; 0 leaves them as they come (4000)."`
	ContributorInsights bool   `yaml:"contributor_insights" doc:"Whether DynamoDB reports throttled keys. It costs by the event."`
}

// Bucket are the settings of the bucket for what is too large for the tables.
type Bucket struct {
	Name        string `yaml:"name" empty:"made of prefix, account and region" form:"^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$" doc:"The bucket's name. A deployment takes a bucket that was left behind over only when its name is said here in full."`
	PayloadDays int    `yaml:"payload_days" least:"0" most:"36500" doc:"After how many days payloads go that tenants have stored, counted from when they were last stored; 0 keeps them. S3 does not know which a job still refers to: a job whose payload has gone fails."`
}

// Payloads lists where payloads may lie.
type Payloads []PayloadPlace

// PayloadPlace is one of them.
type PayloadPlace struct {
	Tenant string `yaml:"tenant"`
	From   string `yaml:"from"`
}

// Functions are the settings of the Lambda functions.
type Functions struct {
	ReservedConcurrency bool    `yaml:"reserved_concurrency" doc:"Whether tick and scan have concurrency of their own that no other function can take. Off in accounts with a low limit."`
	ScanConcurrency     int     `yaml:"scan_concurrency" least:"2" most:"1000" doc:"Scans at a time: the mapping's MaximumConcurrency and, if reserved, the function's own."`
	Pollers             Pollers `yaml:"pollers" doc:"Pools whose queue is polled by provisioned pollers in place of a MaximumConcurrency, so that a burst does not ramp for minutes: {pool: fast-io, least: 20}. A poller drives ten invocations at a time, so there are at most a tenth of the pool's max_concurrency of them, which keeps its ceiling. AWS charges for those that are held ready."`
}

// Pollers lists pools with provisioned pollers.
type Pollers []Poller

// Poller is one of them. How many there are at most follows from the pool.
type Poller struct {
	Pool  string `yaml:"pool"`
	Least int    `yaml:"least"`
}

// API are the settings of the HTTP API.
type API struct {
	Authorizer     string   `yaml:"authorizer" one:"iam jwt" doc:"How callers prove who they are: SigV4 with IAM, or a bearer token."`
	JWTIssuer      string   `yaml:"jwt_issuer" empty:"none" form:"^https://[^\\s]+$" doc:"Who signs the tokens; needed with jwt."`
	JWTAudience    []string `yaml:"jwt_audience" doc:"For whom the tokens are; needed with jwt."`
	Rate           int      `yaml:"rate" least:"1" most:"10000" doc:"Requests a second, on average, before the API answers 429."`
	Burst          int      `yaml:"burst" least:"1" most:"5000" doc:"Requests at once before the API answers 429."`
	Domain         string   `yaml:"domain" empty:"the API's own address" form:"^[a-z0-9][a-z0-9.-]*\\.[a-z]{2,}$" doc:"A domain name for the API. The address that API Gateway gives is closed then."`
	CertificateARN string   `yaml:"certificate_arn" empty:"none" form:"^arn:[a-z-]+:acm:[a-z0-9-]+:[0-9]{12}:certificate/[a-zA-Z0-9-]+$" doc:"The domain's certificate, in the same region; needed with domain."`
	HostedZoneID   string   `yaml:"hosted_zone_id" empty:"the record is made elsewhere" form:"^Z[A-Z0-9]+$" doc:"The Route 53 zone that gets the domain's record."`
	HostedZoneName string   `yaml:"hosted_zone_name" empty:"none" form:"^[a-z0-9][a-z0-9.-]*\\.[a-z]{2,}$" doc:"That zone's name; needed with it."`
}

// Workers are the settings of the container workers.
type Workers struct {
	Deployed          bool     `yaml:"deployed" doc:"Whether the workers of pools of kind ecs are part of the deployment. Off, they run elsewhere, told the same variables; queues and rights of the rest stay."`
	Image             string   `yaml:"image" doc:"The container worker's image: a reference such as 111122223333.dkr.ecr.eu-west-1.amazonaws.com/belfry-worker:1.2.3 or …@sha256:…, or asset: packed from this repository and pushed at deploy, which needs Docker there. Of a repository in ECR the workers get the right to pull; one in another account has to let this one in by its own policy."`
	VPCID             string   `yaml:"vpc_id" empty:"a network is made" form:"^vpc-([0-9a-f]{8}|[0-9a-f]{17})$" doc:"The network that container workers run in."`
	SubnetIDs         []string `yaml:"subnet_ids" doc:"Its subnets for them; needed with vpc_id."`
	AvailabilityZones []string `yaml:"availability_zones" doc:"The zones of those subnets, in the same order."`
	PublicIP          bool     `yaml:"public_ip" doc:"Whether workers have public addresses and need no NAT gateway; nothing can connect to them in either case. With vpc_id it is false unless it is said."`
	NATGateways       int      `yaml:"nat_gateways" least:"0" most:"3" doc:"NAT gateways of the network that is made; needed without public_ip."`
	FlowLogs          bool     `yaml:"flow_logs" doc:"Whether the network that is made logs its flows."`
	IdleMinutes       int      `yaml:"idle_minutes" least:"2" most:"60" doc:"After how many minutes without any message a pool goes to zero."`
}

// Webhooks are the settings of webhook calls.
type Webhooks struct {
	SecretARN string   `yaml:"secret_arn" empty:"calls are not signed" form:"^arn:[a-z-]+:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[^\\s]+$" doc:"The Secrets Manager secret whose text is the signing key (whsec_...). Functions fetch it as they start, container workers are handed it; another key is taken up by what starts from then on: docs/deploy.md."`
	Allow     []string `yaml:"allow" doc:"Addresses, networks and host names that are not public and that webhooks may call all the same. A host name, or *.name for all below it, opens private addresses alone: never loopback, nor link-local ones."`
}

// Archive are the settings of the archive (docs/archive.md).
type Archive struct {
	Enabled       bool   `yaml:"enabled" doc:"Whether every transition and every audit entry is kept in a bucket, beyond the tables: docs/archive.md. Turned off, the bucket stays."`
	Bucket        string `yaml:"bucket" empty:"made of prefix, account and region" form:"^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$" doc:"The bucket's name. A deployment takes a bucket that was left behind over only when its name is said here in full."`
	KeepDays      int    `yaml:"keep_days" least:"0" most:"36500" doc:"How many days objects are kept; 0 keeps them for good. What is over goes 30 days later, so that a mistake can be undone: 400 days are 430 that are stored and paid for."`
	ColdDays      int    `yaml:"cold_days" least:"0" most:"36500" doc:"After how many days objects go to Glacier Instant Retrieval, where they cost a sixth and reading them 3 cents a GB; 0 leaves them. S3 leaves those of less than 128 KB."`
	LockDays      int    `yaml:"lock_days" least:"0" most:"36500" doc:"How many days nobody can delete or replace an object (S3 Object Lock); 0 locks none. What is stored stays as it was locked then."`
	LockMode      string `yaml:"lock_mode" one:"governance compliance" doc:"Whether a principal with a right of its own can lift the lock, or nobody at all."`
	WindowSeconds int    `yaml:"window_seconds" least:"0" most:"300" doc:"How long changes are gathered into one object. A shorter time makes more, smaller objects, each of which is paid for."`
}

// Traces are the settings of the traces of executions.
type Traces struct {
	Endpoint string `yaml:"endpoint" empty:"off" form:"^(xray|https?://[^\\s]+)$" doc:"Where functions and workers send traces of executions: xray, or the address of a collector that takes OTLP over HTTP (docs/traces.md)."`
	Percent  int    `yaml:"percent" least:"0" most:"100" doc:"How many executions of a hundred are traced, each with all of its attempts."`
}

// XRay is the endpoint that stands for X-Ray's own.
const XRay = "xray"

// Alarms are the settings of the alarms.
type Alarms struct {
	TopicARN      string   `yaml:"topic_arn" empty:"a topic is made" form:"^arn:[a-z-]+:sns:[a-z0-9-]+:[0-9]{12}:[a-zA-Z0-9_-]+$" doc:"Where alarms are sent. Its subscriptions are made elsewhere."`
	Emails        []string `yaml:"emails" doc:"Addresses that are subscribed to the topic that is made; not with topic_arn."`
	OldestMessage int      `yaml:"oldest_message" least:"60" most:"43200" doc:"Seconds that a message may be old in a pool's queue before that is an alarm."`
}
