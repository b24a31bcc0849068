package settings

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Callable is what workers may call of one thing that the settings list.
type Callable struct {
	Actions  []string
	Resource string
	Kind     string // of callables
}

// The kinds of things that only go with others.
const (
	KindCluster        = "ECS cluster"
	KindTaskDefinition = "ECS task definition"
	KindRole           = "IAM role"
)

// callables are the kinds of things that targets call, by the form of their ARN.
// A * at the end stands for what may follow.
var callables = []struct {
	kind    string
	form    *regexp.Regexp
	actions []string
}{
	{"Lambda function", form("lambda", `function:[a-zA-Z0-9_-]+(:[a-zA-Z0-9_$-]+)?`), []string{"lambda:InvokeFunction"}},
	{"SQS queue", form("sqs", `[a-zA-Z0-9_-]+(\.fifo)?`), []string{"sqs:SendMessage"}},
	{"SNS topic", form("sns", `[a-zA-Z0-9_-]+(\.fifo)?`), []string{"sns:Publish"}},
	{"event bus", form("events", `event-bus/[/._a-zA-Z0-9-]+`), []string{"events:PutEvents"}},
	{"state machine", form("states", `stateMachine:[a-zA-Z0-9_-]+(:[a-zA-Z0-9_-]+)?`), []string{"states:StartExecution"}},
	{KindTaskDefinition, form("ecs", `task-definition/[a-zA-Z0-9_-]+(:[0-9]+)?`), []string{"ecs:RunTask"}},
	{KindCluster, form("ecs", `cluster/[a-zA-Z0-9_-]+`), nil},
	{KindRole, regexp.MustCompile(`^arn:aws[a-z-]*:iam::[0-9]{12}:role/[a-zA-Z0-9_+=,.@/-]+$`), []string{"iam:PassRole"}},
	{"KMS key", form("kms", `key/[a-zA-Z0-9-]+`), []string{"kms:Decrypt", "kms:GenerateDataKey"}},
}

func form(service, resource string) *regexp.Regexp {
	return regexp.MustCompile(`^arn:aws[a-z-]*:` + service + `:[a-z0-9-]+:[0-9]{12}:` + resource + `(:?\*)?$`)
}

// CallableOf is what workers may call of the thing with that ARN; false when it
// is of no kind that targets call.
func CallableOf(arn string) (Callable, bool) {
	for _, c := range callables {
		if !c.form.MatchString(arn) {
			continue
		}
		// A task definition without a revision stands for each of them.
		if c.kind == KindTaskDefinition && !strings.HasSuffix(arn, "*") && strings.Count(arn, ":") == 5 {
			arn += ":*"
		}
		return Callable{c.actions, arn, c.kind}, true
	}
	return Callable{}, false
}

// Callables are all that the settings list.
func (s Settings) Callables() []Callable {
	var all []Callable
	for _, arn := range s.Targets {
		if c, is := CallableOf(arn); is {
			all = append(all, c)
		}
	}
	return all
}

func (s Settings) checkTargets() error {
	var faults []error
	kinds := map[string]bool{}
	for i, arn := range s.Targets {
		c, is := CallableOf(arn)
		switch {
		case !is:
			faults = append(faults, refusal("targets", arn, "ARNs of functions, queues, topics, event buses, state machines, ECS clusters and task definitions, roles that tasks get, KMS keys",
				"is nothing that a target calls: write whole ARNs, with a * at most at the end"))
		case slices.Contains(s.Targets[:i], arn):
			faults = append(faults, refusal("targets", arn, "each thing once", "is listed twice"))
		}
		kinds[c.Kind] = true
	}
	if kinds[KindTaskDefinition] != kinds[KindCluster] {
		faults = append(faults, refusal("targets", "ecs", "task definitions together with clusters", "needs both: the task definitions that may run, and the clusters that they may run in"))
	}
	if kinds[KindRole] && !kinds[KindTaskDefinition] {
		faults = append(faults, refusal("targets", "iam", "roles together with task definitions", "names roles to pass to tasks, and no task definition"))
	}
	return errors.Join(faults...)
}

// checkSecrets refuses secrets that jobs may refer to which are none, and the one
// that signs webhook calls: a job could send it anywhere.
func (s Settings) checkSecrets() error {
	if err := job.CheckSecretRules(s.Secrets); err != nil {
		return err
	}
	if arn := s.Webhooks.SecretARN; arn != "" && (job.SecretRef{Store: job.StoreSecretsManager, Name: arn}).Allowed(s.Secrets) {
		return refusal("secrets", arn, "not the secret in webhooks.secret_arn", "is the key that signs webhook calls, which no job may send")
	}
	return nil
}
