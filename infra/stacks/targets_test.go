package stacks_test

import (
	"slices"
	"strings"
	"testing"
)

// everyTarget lists one thing of each kind that targets call, and secrets.
const everyTarget = `targets:
  - arn:aws:lambda:eu-west-1:111122223333:function:report
  - arn:aws:lambda:eu-west-1:111122223333:function:report:*
  - arn:aws:sqs:eu-west-1:111122223333:orders.fifo
  - arn:aws:sns:eu-west-1:111122223333:orders
  - arn:aws:events:eu-west-1:111122223333:event-bus/billing
  - arn:aws:states:eu-west-1:111122223333:stateMachine:nightly
  - arn:aws:ecs:eu-west-1:111122223333:cluster/batch
  - arn:aws:ecs:eu-west-1:111122223333:task-definition/report
  - arn:aws:ecs:eu-west-1:111122223333:task-definition/pinned:7
  - arn:aws:iam::111122223333:role/report-task
  - arn:aws:kms:eu-west-1:111122223333:key/0a1b2c3d
secrets:
  - secretsmanager:arn:aws:secretsmanager:eu-west-1:111122223333:secret:jobs/*
  - ssm:/billing/token
`

// callers are the roles that call targets.
var callers = []string{"workfastio", "workexternalapi", "workcpuheavy", "workers/PoollongrunningTaskTask"}

// called are the services of which only targets call anything.
var called = []string{"lambda:", "sns:Publish", "events:", "states:", "ecs:RunTask", "ecs:DescribeTasks", "ecs:StopTask", "iam:", "kms:", "secretsmanager:", "ssm:"}

func ofTargets(rights []string) []string {
	return slices.DeleteFunc(slices.Clone(rights), func(right string) bool {
		return !strings.Contains(right, "111122223333") && !strings.HasPrefix(right, "ssm:") || !slices.ContainsFunc(called, func(begins string) bool { return strings.HasPrefix(right, begins) }) && !strings.HasPrefix(right, "sqs:")
	})
}

func TestWorkersMayCallWhatTheSettingsListAndNothingElse(t *testing.T) {
	want := []string{
		"ecs:DescribeTasks on arn:aws:ecs:eu-west-1:111122223333:task/batch/*",
		"ecs:RunTask on arn:aws:ecs:eu-west-1:111122223333:task-definition/pinned:7",
		"ecs:RunTask on arn:aws:ecs:eu-west-1:111122223333:task-definition/report:*",
		"ecs:StopTask on arn:aws:ecs:eu-west-1:111122223333:task/batch/*",
		"events:PutEvents on arn:aws:events:eu-west-1:111122223333:event-bus/billing",
		"iam:PassRole on arn:aws:iam::111122223333:role/report-task",
		"kms:Decrypt on arn:aws:kms:eu-west-1:111122223333:key/0a1b2c3d",
		"kms:GenerateDataKey on arn:aws:kms:eu-west-1:111122223333:key/0a1b2c3d",
		"lambda:InvokeFunction on arn:aws:lambda:eu-west-1:111122223333:function:report",
		"lambda:InvokeFunction on arn:aws:lambda:eu-west-1:111122223333:function:report:*",
		"secretsmanager:GetSecretValue on arn:aws:secretsmanager:eu-west-1:111122223333:secret:jobs/*",
		"sns:Publish on arn:aws:sns:eu-west-1:111122223333:orders",
		"sqs:SendMessage on arn:aws:sqs:eu-west-1:111122223333:orders.fifo",
		`ssm:GetParameter on arn:{"Ref":"AWS::Partition"}:ssm:{"Ref":"AWS::Region"}:{"Ref":"AWS::AccountId"}:parameter/billing/token`,
		"states:StartExecution on arn:aws:states:eu-west-1:111122223333:stateMachine:nightly",
	}
	for _, r := range rolesOf(t, installed(t, "profile: small\n"+everyTarget)) {
		got := ofTargets(r.Rights)
		if calls := slices.Contains(callers, r.Name); calls && !slices.Equal(got, want) {
			t.Errorf("%s may\n%s\nwant\n%s", r.Name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		} else if !calls && len(got) > 0 {
			t.Errorf("%s calls no targets and may %v", r.Name, got)
		}
	}
	for _, r := range rolesOf(t, installed(t, "profile: small")) {
		if got := ofTargets(r.Rights); len(got) > 0 {
			t.Errorf("without a list %s may %v", r.Name, got)
		}
	}
}

// Running a task means handing a role to whatever it runs: where and to whom is
// said, not only what.
func TestTasksRunInTheClustersThatAreListedAndRolesAreForTasks(t *testing.T) {
	i := installed(t, "profile: small\n"+everyTarget)
	seen := map[string]int{}
	for _, policy := range i.of(t, "AWS::IAM::Policy") {
		statements, _ := at(policy.Properties, "PolicyDocument.Statement").([]any)
		for _, s := range statements {
			switch action := text(at(s, "Action")); action {
			case "ecs:RunTask", `["ecs:DescribeTasks","ecs:StopTask"]`, "ecs:ListTasks":
				if got := text(at(s, "Condition")); got != `{"ArnEquals":{"ecs:cluster":["arn:aws:ecs:eu-west-1:111122223333:cluster/batch"]}}` {
					t.Errorf("%s: %s", policy.ID, got)
				}
				seen[action]++
			case "iam:PassRole":
				if got := text(at(s, "Condition")); got != `{"StringEquals":{"iam:PassedToService":"ecs-tasks.amazonaws.com"}}` {
					t.Errorf("%s: %s", policy.ID, got)
				}
				seen[action]++
			}
		}
	}
	if seen["ecs:RunTask"] == 0 || seen["ecs:ListTasks"] != len(callers) || seen[`["ecs:DescribeTasks","ecs:StopTask"]`] != len(callers) || seen["iam:PassRole"] != len(callers) {
		t.Errorf("statements of the two rights: %v", seen)
	}
}

func TestWorkersAreToldWhichSecretsJobsMayReferTo(t *testing.T) {
	i := installed(t, "profile: small\n"+everyTarget)
	const want = "secretsmanager:arn:aws:secretsmanager:eu-west-1:111122223333:secret:jobs/*,ssm:/billing/token"
	told := 0
	for _, f := range i.of(t, "AWS::Lambda::Function") {
		got := f.get("Environment.Variables.BELFRY_SECRETS")
		if works := strings.HasPrefix(f.get("FunctionName"), "belfry-work-"); works && got != want || !works && got != "" {
			t.Errorf("%s is told %q", f.get("FunctionName"), got)
		} else if works {
			told++
		}
	}
	if environment := i.of(t, "AWS::ECS::TaskDefinition")[0].get("ContainerDefinitions.0.Environment"); told == 0 || !strings.Contains(environment, `"Value":"`+want+`"`) {
		t.Errorf("%d functions are told, and the container %s", told, environment)
	}
}
