package jobfile

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// wholeTargets have a value in every field; the test sees to it that none is
// forgotten.
func wholeTargets() []job.Target {
	attributes := map[string]string{"team": "7"}
	return []job.Target{
		{Webhook: &job.Webhook{URL: "https://example.com/hook", Headers: attributes, ConfirmURL: "https://example.com/hook/state"}},
		{Log: &job.LogTarget{Message: "m"}},
		{Handler: &job.HandlerTarget{Name: "h"}},
		{Lambda: &job.LambdaTarget{Function: "f", Qualifier: "live", Invocation: job.InvocationAsync}},
		{SQS: &job.SQSTarget{QueueURL: "https://sqs.eu-west-1.amazonaws.com/111122223333/q.fifo", GroupID: "g", Attributes: attributes}},
		{SNS: &job.SNSTarget{TopicARN: "arn:aws:sns:eu-west-1:111122223333:t", Subject: "s", GroupID: "g", Attributes: attributes}},
		{EventBridge: &job.EventBridgeTarget{Bus: "b", Source: "s", DetailType: "d", Resources: []string{"arn:aws:s3:::bucket"}}},
		{StepFunctions: &job.StepFunctionsTarget{StateMachineARN: "arn:aws:states:eu-west-1:111122223333:stateMachine:m"}},
		{ECS: &job.ECSTarget{Wait: true, Cluster: "c", TaskDefinition: "t:1", LaunchType: "FARGATE", PlatformVersion: "1.4.0", Subnets: []string{"subnet-0a1b2c3d"}, SecurityGroups: []string{"sg-0a1b2c3d"},
			PublicIP: true, Containers: []job.ContainerOverride{{Name: "main", Command: []string{"run", "--all"}, Environment: map[string]string{"X": "1"}}}}},
		{ECS: &job.ECSTarget{Cluster: "c", TaskDefinition: "t", CapacityProviders: []job.CapacityProvider{{Name: "FARGATE_SPOT", Weight: 4, Base: 1}}, Containers: []job.ContainerOverride{{Name: "main"}}}},
	}
}

func TestEveryFieldOfEveryTargetIsReadFromAFile(t *testing.T) {
	filled := map[string]bool{}
	for _, target := range wholeTargets() {
		note(filled, reflect.ValueOf(target), "")
		written := job.Definition{Job: "one", Schedule: job.Schedule{Cron: "0 3 * * *"}, Target: target}
		document, err := json.Marshal(written) // which is YAML, too
		if err != nil {
			t.Fatal(err)
		}
		read, err := Parse("jobs.yaml", document, today)
		if err != nil || len(read.Jobs) != 1 || !reflect.DeepEqual(read.Jobs[0].Definition.Target, target) {
			t.Errorf("%s reads as %+v, %v", document, read, err)
		}
	}
	for name, is := range filled {
		if !is {
			t.Errorf("no target of the test has a value for %s", name)
		}
	}
}

// note tells of every field within v whether it was ever set.
func note(filled map[string]bool, v reflect.Value, path string) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct {
		if v.Kind() == reflect.Pointer && v.IsNil() || v.Kind() == reflect.Slice && v.Len() == 0 {
			return
		}
		if v.Kind() == reflect.Pointer {
			v = v.Elem()
		} else {
			v = v.Index(0)
		}
	}
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		name := path + "." + v.Type().Field(i).Name
		filled[name] = filled[name] || !v.Field(i).IsZero()
		note(filled, v.Field(i), name)
	}
}

func TestTemplatesAreReadAndTheirFaultsToldWithTheLine(t *testing.T) {
	const file = `job: one
schedule: {every: 1h}
template: true
target: {log: {message: "{{ scheduled_time | date '%F' }}"}}
payload:
  day: "{{ scheduled }}"
`
	if read, err := Parse("jobs.yaml", []byte(strings.ReplaceAll(file, "scheduled }}", "scheduled_time }}")), today); err != nil || !read.Jobs[0].Definition.Template {
		t.Errorf("%+v, %v", read, err)
	}
	if _, err := Parse("jobs.yaml", []byte(file), today); err == nil || !strings.Contains(err.Error(), "jobs.yaml:5: payload: nothing is called \"scheduled\"") {
		t.Errorf("%v", err)
	}
	if _, err := Parse("jobs.yaml", []byte(strings.ReplaceAll(file, "template: true\n", "")), today); err != nil {
		t.Errorf("without template: true braces are braces: %v", err)
	}
}

func TestWhatIsWrongWithATargetIsToldWithItsLine(t *testing.T) {
	const file = `job: one
schedule: {every: 1h}
target:
  ecs:
    cluster: batch
    task_definition: report
    containers:
      - name: main
        environment:
          BELFRY_JOB: x
      - label: side
`
	for sentence, row := range map[string]struct{ file, want string }{
		"a key that is none":      {file, "jobs.yaml:11: target.ecs.containers[1].label"},
		"a variable of ours":      {strings.ReplaceAll(file, "label", "name"), "jobs.yaml:10: target.ecs.containers[0].environment.BELFRY_JOB"},
		"containers that are one": {strings.Split(file, "containers:")[0] + "containers: main\n", "jobs.yaml:7: target.ecs.containers: this is not a list"},
	} {
		t.Run(sentence, func(t *testing.T) {
			if _, err := Parse("jobs.yaml", []byte(row.file), today); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v\nwant %s", err, row.want)
			}
		})
	}
}
