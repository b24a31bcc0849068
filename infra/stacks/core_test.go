package stacks_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/dispatch"
)

var functions = []string{"belfry-api", "belfry-archive", "belfry-deadletter", "belfry-record", "belfry-scan", "belfry-tick", "belfry-work-cpu-heavy", "belfry-work-external-api", "belfry-work-fast-io"}

func TestEveryFunctionRunsTracedWithALogOfItsOwn(t *testing.T) {
	i := installed(t, "profile: small")
	var names []string
	for _, f := range i.of(t, "AWS::Lambda::Function") {
		name := f.get("FunctionName")
		names = append(names, name)
		f.expect(t, map[string]string{"Runtime": "provided.al2023", "Handler": "bootstrap", "Architectures.0": "arm64", "TracingConfig.Mode": "Active"})
		log := i.named(t, "AWS::Logs::LogGroup", "LogGroupName", "/aws/lambda/"+name)
		log.expect(t, map[string]string{"RetentionInDays": "30"})
		if got := f.get("LoggingConfig.LogGroup.Ref"); got != log.ID {
			t.Errorf("%s logs to %q, want %s", name, got, log.ID)
		}
		i.named(t, "AWS::CloudWatch::Alarm", "AlarmName", name+"-errors").expect(t, map[string]string{"Namespace": "AWS/Lambda", "MetricName": "Errors",
			"Dimensions.0.Value": name, "Threshold": "1"})
	}
	slices.Sort(names)
	if !slices.Equal(names, functions) {
		t.Errorf("the functions are %v, want %v", names, functions)
	}
}

func TestTheArchitectureIsASetting(t *testing.T) {
	i := installed(t, "profile: small\narchitecture: x86_64")
	for _, f := range i.of(t, "AWS::Lambda::Function") {
		f.expect(t, map[string]string{"Architectures.0": "x86_64"})
	}
	i.of(t, "AWS::ECS::TaskDefinition")[0].expect(t, map[string]string{"RuntimePlatform.CpuArchitecture": "X86_64"})
}

func TestOnlyChainsThatAreMeantMayGoOn(t *testing.T) {
	for _, f := range installed(t, "profile: small").of(t, "AWS::Lambda::Function") {
		want := "Terminate"
		for _, chained := range []string{"belfry-tick", "belfry-scan", "belfry-work-", "belfry-deadletter"} {
			if strings.HasPrefix(f.get("FunctionName"), chained) {
				want = "Allow"
			}
		}
		f.expect(t, map[string]string{"RecursiveLoop": want})
	}
}

func TestReservedConcurrencyIsASetting(t *testing.T) {
	for file, want := range map[string]map[string]string{
		"profile: small": {"belfry-tick": "2", "belfry-scan": "10"},
		"profile: large": {"belfry-tick": "2", "belfry-scan": "256"},
		"profile: small\nfunctions: {scan_concurrency: 30}":        {"belfry-tick": "2", "belfry-scan": "30"},
		"profile: small\nfunctions: {reserved_concurrency: false}": {},
	} {
		t.Run(file, func(t *testing.T) {
			for _, f := range installed(t, file).of(t, "AWS::Lambda::Function") {
				f.expect(t, map[string]string{"ReservedConcurrentExecutions": want[f.get("FunctionName")]})
			}
		})
	}
}

// mapping is what invokes a function, by the name of the queue.
func mapping(t *testing.T, i installation, queue string) resource {
	t.Helper()
	for _, m := range i.of(t, "AWS::Lambda::EventSourceMapping") {
		if i.thing("core", m.Properties["EventSourceArn"]) == queue {
			return m
		}
	}
	t.Fatalf("nothing takes messages from %s", queue)
	return resource{}
}

func TestEveryQueueIsWorkedOffByItsFunction(t *testing.T) {
	for _, row := range []struct{ file, queue, function, batch, most, pollers string }{
		{"profile: small", "belfry-tick", "Tick", "1", "2", ""},
		{"profile: small", "belfry-scan", "Scan", "1", "10", ""},
		{"profile: large", "belfry-scan", "Scan", "1", "256", ""},
		{"profile: small", "belfry-fast-io", "Workfastio", "10", "200", ""},
		{"profile: large", "belfry-fast-io", "Workfastio", "10", "", `{"MaximumPollers":20,"MinimumPollers":20}`},
		{"profile: large", "belfry-fast-io-isolation", "Workfastio", "1", "2", ""},
		{"profile: small", "belfry-external-api", "Workexternalapi", "10", "10", ""},
		{"profile: small", "belfry-cpu-heavy", "Workcpuheavy", "1", "50", ""},
		{"profile: small", "belfry-cpu-heavy-isolation", "Workcpuheavy", "1", "2", ""},
		{"profile: small", "belfry-fast-io-dlq", "DeadLetter", "10", "2", ""},
		{"profile: small", "belfry-long-running-dlq", "DeadLetter", "10", "2", ""},
	} {
		t.Run(row.file+" "+row.queue, func(t *testing.T) {
			m := mapping(t, installed(t, row.file), row.queue)
			m.expect(t, map[string]string{"BatchSize": row.batch, "ScalingConfig.MaximumConcurrency": row.most, "ProvisionedPollerConfig": row.pollers,
				"FunctionResponseTypes.0": "ReportBatchItemFailures"})
			if got := m.get("FunctionName.Ref"); !strings.HasPrefix(got, row.function+"Function") {
				t.Errorf("%s invokes %s, want %s", row.queue, got, row.function)
			}
		})
	}
}

func TestAQueueHidesMessagesForSixTimesWhatItsFunctionHas(t *testing.T) {
	for _, file := range []string{"profile: small", "profile: large"} {
		i := installed(t, file)
		timeouts := map[string]int{}
		for _, f := range i.of(t, "AWS::Lambda::Function") {
			timeouts[f.ID], _ = strconv.Atoi(f.get("Timeout"))
		}
		checked := 0
		for _, q := range i.of(t, "AWS::SQS::Queue") {
			name := q.get("QueueName")
			if name == "" || name == "belfry-long-running" || name == "belfry-long-running-isolation" {
				continue // no function takes from these
			}
			checked++
			hidden, _ := strconv.Atoi(q.get("VisibilityTimeout"))
			timeout := timeouts[mapping(t, i, name).get("FunctionName.Ref")]
			if timeout == 0 || hidden < 6*timeout || hidden > 43200 {
				t.Errorf("%s hides messages for %d s from a function that has %d s", name, hidden, timeout)
			}
		}
		if checked != 12 {
			t.Errorf("%d queues feed functions, want 12", checked)
		}
	}
}

func TestAWorkFunctionOutlivesItsPoolsCeiling(t *testing.T) {
	i := installed(t, "profile: small")
	for _, pool := range dispatch.Pools(dispatch.DefaultPools()).Of(dispatch.KindLambda) {
		f := i.named(t, "AWS::Lambda::Function", "FunctionName", "belfry-work-"+pool.Name)
		timeout, _ := strconv.Atoi(f.get("Timeout"))
		if spare := timeout - int(pool.Ceiling.Seconds()); spare < 30 || timeout > 900 {
			t.Errorf("%s has %d s for jobs of at most %v", pool.Name, timeout, pool.Ceiling)
		}
		f.expect(t, map[string]string{"MemorySize": fmt.Sprint(pool.MemoryMB), "Environment.Variables.BELFRY_POOL": pool.Name})
	}
}

func TestSignalsGoAfterTwoMinutes(t *testing.T) {
	i := installed(t, "profile: small")
	for _, name := range []string{"tick", "scan"} {
		i.named(t, "AWS::SQS::Queue", "QueueName", "belfry-"+name).expect(t, map[string]string{"MessageRetentionPeriod": "120", "RedrivePolicy": ""})
		i.named(t, "AWS::CloudWatch::Alarm", "AlarmName", "belfry-"+name+"-signal-oldest").expect(t, map[string]string{"MetricName": "ApproximateAgeOfOldestMessage",
			"Dimensions.0.Value": "belfry-" + name})
	}
}

func TestTheTickIsInvokedEachMinuteAndNeverAgain(t *testing.T) {
	i := installed(t, "profile: small")
	schedule := i.of(t, "AWS::Scheduler::Schedule")[0]
	schedule.expect(t, map[string]string{"ScheduleExpression": "rate(1 minute)", "State": "ENABLED", "FlexibleTimeWindow.Mode": "OFF",
		"Target.RetryPolicy.MaximumRetryAttempts": "0", "Target.RetryPolicy.MaximumEventAgeInSeconds": "60"})
	if got := i.thing("core", at(schedule.Properties, "Target.Arn")); got != "belfry-tick" {
		t.Errorf("the schedule invokes %s", got)
	}
	invoke := i.of(t, "AWS::Lambda::EventInvokeConfig")
	if len(invoke) != 1 || !strings.HasPrefix(invoke[0].get("FunctionName.Ref"), "Tick") {
		t.Errorf("%d functions are invoked and not waited for, want the tick alone", len(invoke))
	}
	invoke[0].expect(t, map[string]string{"MaximumRetryAttempts": "0", "MaximumEventAgeInSeconds": "60"})
	if got := i.thing("core", at(invoke[0].Properties, "DestinationConfig.OnFailure.Destination")); !strings.HasPrefix(got, "Failures") {
		t.Errorf("what the tick failed with goes to %s", got)
	}
}

func TestATickThatIsOffIsNeitherStartedNorGoesOnByItself(t *testing.T) {
	for file, want := range map[string]struct{ schedule, chain string }{
		"profile: small":                      {"ENABLED", "true"},
		"profile: small\ntick_enabled: false": {"DISABLED", "false"},
	} {
		i := installed(t, file)
		i.of(t, "AWS::Scheduler::Schedule")[0].expect(t, map[string]string{"State": want.schedule})
		mapping(t, i, "belfry-tick").expect(t, map[string]string{"Enabled": want.chain})
		for _, other := range []string{"belfry-scan", "belfry-fast-io", "belfry-fast-io-isolation", "belfry-fast-io-dlq"} {
			mapping(t, i, other).expect(t, map[string]string{"Enabled": "true"}) // what is made already still runs
		}
	}
}

func TestARecordThatCannotBeTakenDoesNotStopTheStream(t *testing.T) {
	i := installed(t, "profile: small")
	m := streamMapping(t, i, "belfry-executions", "Record")
	m.expect(t, map[string]string{"BisectBatchOnFunctionError": "true", "MaximumRecordAgeInSeconds": "3600", "FunctionResponseTypes.0": "ReportBatchItemFailures",
		"StartingPosition": "TRIM_HORIZON"})
	if got := i.thing("core", at(m.Properties, "DestinationConfig.OnFailure.Destination")); !strings.HasPrefix(got, "Failures") {
		t.Errorf("what record failed with goes to %s", got)
	}
}

const secret = "arn:aws:secretsmanager:eu-central-1:111122223333:secret:hooks-AbCdEf"

func TestOnlyWhatSignsMayReadTheSecret(t *testing.T) {
	for _, r := range rolesOf(t, installed(t, "profile: small\nwebhooks: {secret_arn: \""+secret+"\"}")) {
		signs := strings.HasPrefix(r.Name, "work") && (!strings.HasPrefix(r.Name, "workers/") || r.Name == "workers/PoollongrunningTaskExecution")
		if got := slices.Contains(r.Rights, "secretsmanager:GetSecretValue on "+secret); got != signs {
			t.Errorf("%s may read the secret: %v", r.Name, got)
		}
	}
}

func TestFunctionsAreToldWhatTheyCanRead(t *testing.T) {
	i := installed(t, "profile: large\nprefix: acme\nwebhooks: {secret_arn: \""+secret+"\", allow: [10.0.0.0/8, 127.0.0.1]}")
	for _, f := range i.of(t, "AWS::Lambda::Function") {
		told, _ := at(f.Properties, "Environment.Variables").(map[string]any)
		runs := strings.HasPrefix(f.get("FunctionName"), "acme-work-")
		if got := text(told["BELFRY_WEBHOOK_SECRET_ARN"]); (got == secret) != runs || (got != "") != runs {
			t.Errorf("%s is told the secret as %q", f.ID, got)
		}
		// What CloudFormation resolves, whoever may look at the function reads.
		if shown := f.get("Environment.Variables"); strings.Contains(shown, "resolve:") {
			t.Errorf("%s has the secret itself among its variables: %s", f.ID, shown)
		}
		e, err := assemble.ReadEnvironment(func(name string) (string, bool) {
			value, is := told[name].(string)
			return value, is
		})
		if err != nil || e.Prefix != "acme" || e.Shards != 4096 || len(e.Pools) != 4 || len(e.WebhookAllow.Networks) != 2 {
			t.Errorf("%s reads %+v, %v", f.ID, e, err)
		}
		known := map[string]bool{}
		for _, v := range assemble.Variables {
			known[v.Name] = true
		}
		for name := range told {
			if !known[name] {
				t.Errorf("%s is told %s, which nothing reads", f.ID, name)
			}
		}
	}
}

func TestAnUpgradeGoesFromReadersToWriters(t *testing.T) {
	i := installed(t, "profile: small")
	for of, before := range map[string]string{"core": "workers", "api": "core", "workers": "data"} {
		if !slices.ContainsFunc(*i[of].Stack.Dependencies(), func(s awscdk.Stack) bool { return *s.StackName() == "belfry-"+before }) {
			t.Errorf("%s is deployed without waiting for %s", of, before)
		}
	}
	after := text(i.named(t, "AWS::Lambda::Function", "FunctionName", "belfry-scan").After)
	for _, reader := range []string{"belfry-work-fast-io", "belfry-work-external-api", "belfry-work-cpu-heavy", "belfry-deadletter"} {
		if id := i.named(t, "AWS::Lambda::Function", "FunctionName", reader).ID; !strings.Contains(after, `"`+id+`"`) {
			t.Errorf("scan is deployed without waiting for %s", reader)
		}
	}
}
