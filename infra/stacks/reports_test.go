package stacks_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/belfry-scheduler/belfry/infra/parts"
	"github.com/belfry-scheduler/belfry/infra/settings"
	"github.com/belfry-scheduler/belfry/infra/stacks"
)

// withPools is a small installation with a pools file of its own.
func withPools(t *testing.T, pools string) installation {
	t.Helper()
	files := fstest.MapFS{"belfry.yaml": {Data: []byte("pools_file: pools.yaml")}, "pools.yaml": {Data: []byte(pools)}}
	s, read, err := settings.Read(files, "belfry.yaml", func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	app := awscdk.NewApp(&awscdk.AppProps{AnalyticsReporting: jsii.Bool(false), Context: repositoryContext(t)})
	all := stacks.Build(app, parts.Installation{Settings: s, Pools: read, Built: built})
	return installation{"data": parse(t, all.Data.Stack), "core": parse(t, all.Core.Stack)}
}

// PB-141: a function whose timeout grew kept a queue that gave its messages out
// a second time.
func TestAPoolsCeilingCarriesTimeoutAndVisibilityWithIt(t *testing.T) {
	for ceiling, timeout := range map[string]int{"1m": 120, "14m": 900} {
		i := withPools(t, "pools: [{name: fast-io, ceiling: "+ceiling+"}]")
		if got := i.named(t, "AWS::Lambda::Function", "FunctionName", "belfry-work-fast-io").get("Timeout"); got != strconv.Itoa(timeout) {
			t.Errorf("jobs of %s: the function has %s s, want %d", ceiling, got, timeout)
		}
		for _, queue := range []string{"belfry-fast-io", "belfry-fast-io-isolation"} {
			m := mapping(t, i, queue)
			window, _ := strconv.Atoi(m.get("MaximumBatchingWindowInSeconds"))
			if hidden, _ := strconv.Atoi(i.named(t, "AWS::SQS::Queue", "QueueName", queue).get("VisibilityTimeout")); hidden < 6*timeout+window {
				t.Errorf("jobs of %s: %s hides messages for %d s from a function that has %d s and gathers for %d s", ceiling, queue, hidden, timeout, window)
			}
		}
	}
}

// PB-180: alarms rang where nobody heard them, and silence was no alarm.
func TestEveryAlarmTellsSomebodyAndKnowsWhatSilenceMeans(t *testing.T) {
	silent := map[string]bool{"belfry-tick-missing": true} // those for which silence is the trouble itself
	heard := 0
	for _, kind := range []string{"AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm"} {
		for _, alarm := range installed(t, "profile: small").of(t, kind) {
			name := alarm.get("AlarmName")
			if strings.HasPrefix(alarm.get("AlarmDescription"), "Not an alarm") {
				continue // it scales a pool
			}
			want := "notBreaching"
			if silent[name] {
				want = "breaching"
			}
			if kind == "AWS::CloudWatch::Alarm" && alarm.get("TreatMissingData") != want {
				t.Errorf("%s takes silence for %q, want %s", name, alarm.get("TreatMissingData"), want)
			}
			if part := strings.HasPrefix(name, "belfry-slo-burn-") && kind == "AWS::CloudWatch::Alarm"; !part {
				heard++
				if alarm.get("AlarmActions.0") == "" || alarm.get("ActionsEnabled") == "false" {
					t.Errorf("%s tells nobody", name)
				}
			}
		}
	}
	if heard < 40 {
		t.Errorf("%d alarms looked at: the search has gone blind", heard)
	}
}

// An installation that is switched off for a restore is silent on purpose.
func TestWithTheTickOffSilenceIsNoAlarm(t *testing.T) {
	for _, file := range []string{"profile: small\ntick_enabled: false", "profile: small\ntick_enabled: false\nmetrics: false"} {
		for _, alarm := range installed(t, file).of(t, "AWS::CloudWatch::Alarm") {
			if alarm.get("TreatMissingData") == "breaching" {
				t.Errorf("%q: %s takes silence for trouble", file, alarm.get("AlarmName"))
			}
		}
	}
}

// PB-183: a moved message is not counted as sent, so that alarm never rang.
func TestADeadLetterQueueIsWatchedByWhatLiesInIt(t *testing.T) {
	i := installed(t, "profile: small")
	var watched, dead []string
	for _, alarm := range i.of(t, "AWS::CloudWatch::Alarm") {
		if alarm.get("Namespace") == "AWS/SQS" && strings.HasPrefix(alarm.get("MetricName"), "NumberOfMessages") {
			t.Errorf("%s counts movements of messages: %s", alarm.get("AlarmName"), alarm.get("MetricName"))
		}
		if alarm.get("MetricName") == "ApproximateNumberOfMessagesVisible" && alarm.get("Threshold") == "1" {
			watched = append(watched, alarm.get("Dimensions.0.Value"))
		}
	}
	for _, q := range i.of(t, "AWS::SQS::Queue") {
		if name := q.get("QueueName"); strings.HasSuffix(name, "-dlq") {
			dead = append(dead, name)
			if !slices.Contains(watched, name) {
				t.Errorf("nobody is told that messages lie in %s", name)
			}
		}
	}
	if len(dead) != 4 {
		t.Errorf("%d dead-letter queues, want one for each pool", len(dead))
	}
}

// PB-185: a forgotten installation went on firing. What outlives its stacks
// keeps data and starts nothing.
func TestWhatOutlivesItsStacksStartsNothing(t *testing.T) {
	kept := map[string]bool{"AWS::DynamoDB::Table": true, "AWS::DynamoDB::GlobalTable": true, "AWS::SQS::Queue": true, "AWS::S3::Bucket": true, "AWS::S3::BucketPolicy": true}
	looked := 0
	for word, template := range installed(t, "profile: small") {
		for _, r := range template.Resources {
			looked++
			if r.Deletion == "Retain" && !kept[r.Type] {
				t.Errorf("%s of %s outlives its stack: %s", r.ID, word, r.Type)
			}
		}
	}
	if looked < 100 {
		t.Errorf("%d resources looked at", looked)
	}
}
