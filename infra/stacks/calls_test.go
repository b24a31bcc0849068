package stacks_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/infra/calls"
)

// derived are the services whose rights are all told from the calls in the code.
// Those that go with another right, such as the key of what is read, are not.
var derived = []string{"sqs", "dynamodb", "s3", "secretsmanager", "ssm", "lambda", "sns", "events", "states"}

// feeds are the rights that the platform uses in a function's name to take from
// its queues or its stream, beside what the code calls.
var feeds = []string{"sqs:ReceiveMessage", "sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:GetQueueAttributes",
	"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams"}

// byHandlers are the rights of S3 that handlers need of what runs them: none of the
// targets that ship keeps a checkpoint, and handlers of a team do. They are told from
// the calls of the example.
func byHandlers(t *testing.T, source *calls.Source) []string {
	t.Helper()
	program, err := source.Program("examples/orders/worker")
	if err != nil {
		t.Fatal(err)
	}
	needs := slices.DeleteFunc(program.Needs(), func(need string) bool { return !strings.HasPrefix(need, "s3:") })
	if !slices.Contains(needs, "s3:DeleteObject") {
		t.Errorf("the example needs %v: it keeps no checkpoints", needs)
	}
	return needs
}

func TestEveryCallThatTheCodeCanMakeIsGrantedAndNoOther(t *testing.T) {
	i := installed(t, "profile: small\nwebhooks: {secret_arn: \""+secret+"\"}\n"+everyTarget)
	roles := map[string]role{}
	for _, r := range rolesOf(t, i) {
		roles[r.Name] = r
	}
	source, err := calls.Load("../..", "github.com/belfry-scheduler/belfry", "./functions/...", "./cmd/worker", "./examples/orders/worker")
	if err != nil {
		t.Fatal(err)
	}
	for path, names := range map[string][]string{
		"functions/api": {"api"}, "functions/tick": {"tick"}, "functions/scan": {"scan"}, "functions/work": {"workfastio", "workexternalapi", "workcpuheavy"},
		"functions/deadletter": {"deadletter"}, "functions/record": {"record"}, "functions/archive": {"archive"}, "cmd/worker": {"workers/PoollongrunningTaskTask"},
	} {
		program, err := source.Program(path)
		if err != nil {
			t.Fatal(err)
		}
		needs := program.Needs()
		if len(needs) == 0 {
			t.Errorf("%s calls nothing: the search has gone blind", path)
		}
		if strings.Contains(path, "work") {
			needs = append(needs, byHandlers(t, source)...)
		}
		for _, name := range names {
			r, is := roles[name]
			if !is {
				t.Fatalf("there is no role %s", name)
			}
			compare(t, name, needs, r)
		}
	}
}

func compare(t *testing.T, name string, needs []string, r role) {
	t.Helper()
	for _, need := range needs {
		if !slices.ContainsFunc(r.Rights, func(right string) bool { return covers(right, need) }) {
			t.Errorf("the code of %s may call what its role may not: %s", name, need)
		}
	}
	for _, right := range r.Rights {
		action, on, _ := strings.Cut(right, " on ")
		service, _, _ := strings.Cut(action, ":")
		if !slices.Contains(derived, service) && action != "ecs:RunTask" {
			continue
		}
		if slices.Contains(feeds, action) || strings.HasPrefix(on, "Failures") || strings.HasPrefix(on, "ArchiveFailures") {
			continue
		}
		if !slices.ContainsFunc(needs, func(need string) bool { return covers(right, need) }) {
			t.Errorf("the role of %s may %s, which its code never calls", name, right)
		}
	}
}

// covers tells whether a right is the one that is needed: "dynamodb:Query on
// belfry-jobs" covers "dynamodb:Query on jobs", and of SQS the queue is not known.
func covers(right, need string) bool {
	action, on, _ := strings.Cut(right, " on ")
	neededAction, neededOn, _ := strings.Cut(need, " on ")
	return action == neededAction && (neededOn == "" || on == "belfry-"+neededOn)
}
