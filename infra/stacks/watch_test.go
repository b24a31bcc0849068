package stacks_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestSilenceOfTheTickIsAnAlarm(t *testing.T) {
	installed(t, "profile: small").named(t, "AWS::CloudWatch::Alarm", "AlarmName", "belfry-tick-missing").expect(t, map[string]string{
		"Namespace": "AWS/Lambda", "MetricName": "Invocations", "Dimensions.0.Value": "belfry-tick", "Threshold": "1",
		"ComparisonOperator": "LessThanThreshold", "TreatMissingData": "breaching", "EvaluationPeriods": "3"})
	for _, alarm := range installed(t, "profile: small\ntick_enabled: false").of(t, "AWS::CloudWatch::Alarm") {
		if alarm.get("AlarmName") == "belfry-tick-missing" {
			t.Error("a tick that is switched off is missed")
		}
	}
}

func TestEveryTableAndIndexHasAnAlarmOnThrottling(t *testing.T) {
	i := installed(t, "profile: small")
	watched := map[string]bool{}
	for _, alarm := range i.of(t, "AWS::CloudWatch::Alarm") {
		if alarm.get("MetricName") == "WriteThrottleEvents" {
			var of []string
			for _, d := range at(alarm.Properties, "Dimensions").([]any) {
				of = append(of, text(at(d, "Value")))
			}
			slices.Sort(of)
			watched[strings.Join(of, "+")] = true
		}
	}
	want := map[string]bool{}
	for _, table := range i.of(t, "AWS::DynamoDB::Table") {
		want[table.get("TableName")] = true
		list, _ := at(table.Properties, "GlobalSecondaryIndexes").([]any)
		for _, index := range list {
			of := []string{table.get("TableName"), text(at(index, "IndexName"))}
			slices.Sort(of)
			want[strings.Join(of, "+")] = true
		}
	}
	if !maps.Equal(watched, want) {
		t.Errorf("watched are %v, want %v", watched, want)
	}
}

// named are the properties by which things of an account or region are told apart.
var named = []string{"TableName", "QueueName", "FunctionName", "LogGroupName", "AlarmName", "TopicName", "ClusterName", "ServiceName", "Family", "Name", "RoleName"}

func TestTwoInstallationsInOneAccountDoNotCollide(t *testing.T) {
	taken := map[string]string{}
	for _, prefix := range []string{"red", "blue"} {
		i := installed(t, "profile: small\nprefix: "+prefix)
		for word, s := range i {
			if name := *s.Stack.StackName(); name != prefix+"-"+word {
				t.Errorf("a stack of %s is called %s", prefix, name)
			}
			for _, r := range s.Resources {
				for _, property := range named {
					name := r.get(property)
					if name == "" || strings.HasPrefix(name, "{") || r.Type == "AWS::Lambda::EventSourceMapping" {
						continue
					}
					whole := r.Type + " " + name
					if owner, is := taken[whole]; is && owner != prefix {
						t.Errorf("both have a %s", whole)
					}
					taken[whole] = prefix
				}
			}
			for export := range s.exports() {
				if owner, is := taken["export "+export]; is && owner != prefix {
					t.Errorf("both export %s", export)
				}
				taken["export "+export] = prefix
			}
		}
	}
	if len(taken) < 100 {
		t.Errorf("%d names compared: the search has gone blind", len(taken))
	}
}

func (t template) exports() map[string]bool {
	found := map[string]bool{}
	outputs, _ := t.Raw["Outputs"].(map[string]any)
	for _, output := range outputs {
		if name := text(at(output, "Export.Name")); name != "" {
			found[name] = true
		}
	}
	return found
}
