package stacks_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/belfry-scheduler/belfry/infra/parts"
	"github.com/belfry-scheduler/belfry/infra/settings"
	"github.com/belfry-scheduler/belfry/infra/stacks"
)

func TestAContainerWorkerIsToldItsPoolAndHasTimeToDrain(t *testing.T) {
	i := installed(t, "profile: small\nworkers: {image: \"ecr.example.com/belfry:1\"}\nwebhooks: {secret_arn: \""+secret+"\"}")
	task := i.of(t, "AWS::ECS::TaskDefinition")[0]
	task.expect(t, map[string]string{"Cpu": "1024", "Memory": "2048", "RuntimePlatform.CpuArchitecture": "ARM64", "ContainerDefinitions.0.Image": "ecr.example.com/belfry:1",
		"ContainerDefinitions.0.StopTimeout": "120", "ContainerDefinitions.0.Command.0": "--drain=100s", "ContainerDefinitions.0.ReadonlyRootFilesystem": "true",
		"ContainerDefinitions.0.User": "65532:65532", "ContainerDefinitions.0.Secrets.0.ValueFrom": secret})
	told := map[string]string{}
	for _, v := range at(task.Properties, "ContainerDefinitions.0.Environment").([]any) {
		told[text(at(v, "Name"))] = text(at(v, "Value"))
	}
	if told["BELFRY_POOL"] != "long-running" || told["BELFRY_PREFIX"] != "belfry" || !strings.Contains(told["BELFRY_POOLS"], `"long-running"`) {
		t.Errorf("the worker is told %v", told)
	}
}

func TestTheImageIsTheOneThatWasPackedOrTheOneThatIsNamed(t *testing.T) {
	for file, want := range map[string]string{
		"profile: small": `dkr\.ecr\..*/cdk-hnb659fds-container-assets-.*:[0-9a-f]{64}"`, // pushed at deploy, into the repository of the CDK's bootstrap
		"profile: small\nworkers: {image: \"ecr.example.com/belfry:1\"}": `^ecr\.example\.com/belfry:1$`,
	} {
		if image := installed(t, file).of(t, "AWS::ECS::TaskDefinition")[0].get("ContainerDefinitions.0.Image"); !regexp.MustCompile(want).MatchString(image) {
			t.Errorf("%s: the image is %s, want %s", file, image, want)
		}
	}
}

// An image in ECR is pulled in the name of the task's execution role.
func TestTheWorkersMayPullTheImageThatIsNamed(t *testing.T) {
	for host, partition := range map[string]string{"123456789012.dkr.ecr.eu-west-1.amazonaws.com": "aws:ecr:eu-west-1", "123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn": "aws-cn:ecr:cn-north-1"} {
		i := installed(t, "profile: small\nworkers: {image: \""+host+"/team/belfry-worker:1.2.3\"}")
		i.of(t, "AWS::ECS::TaskDefinition")[0].expect(t, map[string]string{"ContainerDefinitions.0.Image": host + "/team/belfry-worker:1.2.3"})
		repository := "arn:" + partition + ":123456789012:repository/team/belfry-worker"
		want := []string{"ecr:BatchCheckLayerAvailability on " + repository, "ecr:BatchGetImage on " + repository, "ecr:GetAuthorizationToken on *",
			"ecr:GetDownloadUrlForLayer on " + repository}
		for _, r := range rolesOf(t, i) {
			rights := slices.DeleteFunc(slices.Clone(r.Rights), func(right string) bool { return !strings.HasPrefix(right, "ecr:") })
			if pulls := r.Name == "workers/PoollongrunningTaskExecution"; pulls && !slices.Equal(rights, want) || !pulls && len(rights) > 0 {
				t.Errorf("%s may %v", r.Name, rights)
			}
		}
	}
}

func TestAWorkerThatGivesNoSignIsReplaced(t *testing.T) {
	for _, task := range installed(t, "profile: small").of(t, "AWS::ECS::TaskDefinition") {
		task.expect(t, map[string]string{"ContainerDefinitions.0.HealthCheck.Command": `["CMD","/worker","--health"]`, "ContainerDefinitions.0.HealthCheck.Interval": "30",
			"ContainerDefinitions.0.HealthCheck.Retries": "3", "ContainerDefinitions.0.HealthCheck.Timeout": "5", "ContainerDefinitions.0.PortMappings": ""})
		if told := task.get("ContainerDefinitions.0.Environment"); !strings.Contains(told, `{"Name":"BELFRY_HEALTH","Value":"127.0.0.1:8080"}`) {
			t.Errorf("the worker is not told where to answer: %s", told)
		}
	}
}

func TestAPoolOfContainersIsThereOnlyWhileItHasWork(t *testing.T) {
	i := installed(t, "profile: small")
	i.of(t, "AWS::ECS::Service")[0].expect(t, map[string]string{"DesiredCount": "0", "ServiceName": "belfry-worker-long-running"})
	i.of(t, "AWS::ApplicationAutoScaling::ScalableTarget")[0].expect(t, map[string]string{"MinCapacity": "0", "MaxCapacity": "10"})
	policies := map[string]resource{}
	for _, p := range i.of(t, "AWS::ApplicationAutoScaling::ScalingPolicy") {
		policies[p.ID] = p
	}
	for _, row := range []struct {
		alarm string
		want  map[string]string // of the alarm
		steps string            // of the policy that it triggers
		by    string
	}{
		{"backlog", map[string]string{"Threshold": "1", "EvaluationPeriods": "1", "ComparisonOperator": "GreaterThanOrEqualToThreshold"},
			`[{"MetricIntervalLowerBound":0,"MetricIntervalUpperBound":16,"ScalingAdjustment":1},{"MetricIntervalLowerBound":16,"ScalingAdjustment":2}]`, "ChangeInCapacity"},
		{"age", map[string]string{"Threshold": "120", "ComparisonOperator": "GreaterThanOrEqualToThreshold"},
			`[{"MetricIntervalLowerBound":0,"ScalingAdjustment":1}]`, "ChangeInCapacity"},
		{"idle", map[string]string{"Threshold": "0", "EvaluationPeriods": "10", "ComparisonOperator": "LessThanOrEqualToThreshold"},
			`[{"MetricIntervalUpperBound":0,"ScalingAdjustment":0}]`, "ExactCapacity"},
	} {
		t.Run(row.alarm, func(t *testing.T) {
			alarm := i.named(t, "AWS::CloudWatch::Alarm", "AlarmName", "belfry-worker-long-running-"+row.alarm)
			alarm.expect(t, row.want)
			policies[alarm.get("AlarmActions.0.Ref")].expect(t, map[string]string{"StepScalingPolicyConfiguration.StepAdjustments": row.steps,
				"StepScalingPolicyConfiguration.AdjustmentType": row.by})
		})
	}
}

func TestThePoolGrowsWithTheMessagesForEachSlot(t *testing.T) {
	alarm := installed(t, "profile: small").named(t, "AWS::CloudWatch::Alarm", "AlarmName", "belfry-worker-long-running-backlog")
	metrics := alarm.get("Metrics")
	for _, part := range []string{"IF(FILL(workers, 0) < 1, ", "/ (FILL(workers, 1) * 16))", `"belfry-long-running"`, `"belfry-long-running-isolation"`,
		"ApproximateNumberOfMessagesDelayed", "ApproximateNumberOfMessagesNotVisible", "RunningTaskCount"} {
		if !strings.Contains(strings.ReplaceAll(metrics, `\u003c`, "<"), part) {
			t.Errorf("%s is not in %s", part, metrics)
		}
	}
}

func TestNothingCanConnectToAWorker(t *testing.T) {
	for _, file := range []string{"profile: small", "profile: large"} {
		i := installed(t, file)
		for _, group := range i.of(t, "AWS::EC2::SecurityGroup") {
			group.expect(t, map[string]string{"SecurityGroupIngress": ""})
		}
	}
}

func TestTheNetworkIsASetting(t *testing.T) {
	public := installed(t, "profile: small").of(t, "AWS::ECS::Service")[0]
	public.expect(t, map[string]string{"NetworkConfiguration.AwsvpcConfiguration.AssignPublicIp": "ENABLED"})
	large := installed(t, "profile: large")
	large.of(t, "AWS::ECS::Service")[0].expect(t, map[string]string{"NetworkConfiguration.AwsvpcConfiguration.AssignPublicIp": "DISABLED"})
	if got := len(large.of(t, "AWS::EC2::NatGateway")); got != 2 {
		t.Errorf("%d NAT gateways, want 2", got)
	}
	own := installed(t, "profile: small\nworkers: {vpc_id: vpc-0123456789abcdef0, subnet_ids: [subnet-0123456789abcdef0, subnet-0123456789abcdef1], availability_zones: [eu-central-1a, eu-central-1b], public_ip: false}")
	own.of(t, "AWS::ECS::Service")[0].expect(t, map[string]string{"NetworkConfiguration.AwsvpcConfiguration.Subnets": `["subnet-0123456789abcdef0","subnet-0123456789abcdef1"]`})
	for _, r := range own["workers"].Resources {
		if r.Type == "AWS::EC2::VPC" {
			t.Error("a network is made although one is given")
		}
	}
}

func TestWorkersCanRunElsewhere(t *testing.T) {
	i := installed(t, "profile: small\nworkers: {deployed: false}")
	if _, is := i["workers"]; is {
		t.Error("there is a stack of workers")
	}
	i.named(t, "AWS::SQS::Queue", "QueueName", "belfry-long-running")
}

func TestAnInstallationWithoutContainerPoolsHasNoWorkers(t *testing.T) {
	files := fstest.MapFS{"belfry.yaml": {Data: []byte("pools_file: pools.yaml")}, "pools.yaml": {Data: []byte("pools: [{name: fast-io}]")}}
	s, pools, err := settings.Read(files, "belfry.yaml", func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	app := awscdk.NewApp(&awscdk.AppProps{AnalyticsReporting: jsii.Bool(false), Context: repositoryContext(t)})
	if made := stacks.Build(app, parts.Installation{Settings: s, Pools: pools, Built: built}); made.Workers != nil {
		t.Error("there is a stack of workers")
	}
}
