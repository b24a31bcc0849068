package stacks_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/observe"
)

func TestEveryAlarmOfTheListIsThereAndNoOther(t *testing.T) {
	i := installed(t, "profile: small")
	there := map[string]bool{}
	for _, kind := range []string{"AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm"} {
		for _, alarm := range i.of(t, kind) {
			there[alarm.get("AlarmName")] = true
		}
	}
	for _, a := range observe.Alarms(observe.Site{Prefix: "belfry"}) {
		if !there["belfry-"+a.Name] {
			t.Errorf("there is no alarm %s", a.Name)
		}
	}
	// What is made with a part is listed by its kind: <pool>-oldest.
	known := map[string]bool{}
	for _, p := range observe.PartAlarms {
		known[strings.TrimPrefix(p.Name[strings.IndexByte(p.Name, '>')+1:], "throttled-<table or index>")] = true
	}
	for _, word := range []string{"-dlq-not-empty", "-oldest", "-isolation-oldest", "-errors", "failures-not-empty", "record-behind", "schedule-dropped"} {
		if !known[word] {
			t.Errorf("alarms *%s are made, but the list does not have them", word)
		}
	}
}

func TestSilenceOfTheTickIsAnAlarm(t *testing.T) {
	installed(t, "profile: small").named(t, "AWS::CloudWatch::Alarm", "AlarmName", "belfry-tick-missing").expect(t, map[string]string{
		"Threshold": "1", "ComparisonOperator": "LessThanThreshold", "TreatMissingData": "breaching", "EvaluationPeriods": "3"})
	for _, alarm := range installed(t, "profile: small\ntick_enabled: false").of(t, "AWS::CloudWatch::Alarm") {
		if alarm.get("AlarmName") == "belfry-tick-missing" {
			t.Error("a tick that is switched off is missed")
		}
	}
}

func TestABudgetThatBurnsRingsOnlyWhenBothWindowsDo(t *testing.T) {
	i := installed(t, "profile: small")
	joint := i.named(t, "AWS::CloudWatch::CompositeAlarm", "AlarmName", "belfry-slo-burn-fast")
	for _, window := range []string{"5m", "1h"} {
		part := i.named(t, "AWS::CloudWatch::Alarm", "AlarmName", "belfry-slo-burn-"+window)
		part.expect(t, map[string]string{"AlarmActions": ""})
		if rule := joint.get("AlarmRule"); !strings.Contains(rule, part.ID) || !strings.Contains(rule, " AND ") {
			t.Errorf("the joint alarm rings on %s", rule)
		}
	}
	if joint.get("AlarmActions.0") == "" {
		t.Error("the joint alarm is sent to nobody")
	}
}

func TestEveryAlarmNamesAPageThatIsThere(t *testing.T) {
	i := installed(t, "profile: small")
	for _, alarm := range append(i.of(t, "AWS::CloudWatch::Alarm"), i.of(t, "AWS::CloudWatch::CompositeAlarm")...) {
		says := alarm.get("AlarmDescription")
		if strings.HasPrefix(says, "Not an alarm") {
			continue
		}
		_, page, is := strings.Cut(says, "/docs/runbooks/")
		if _, err := os.Stat("../../docs/runbooks/" + page); !is || err != nil {
			t.Errorf("%s names no page: %s", alarm.get("AlarmName"), says)
		}
	}
}

func TestTheDashboardShowsThisInstallation(t *testing.T) {
	dashboard := installed(t, "profile: small\nprefix: acme").of(t, "AWS::CloudWatch::Dashboard")[0]
	dashboard.expect(t, map[string]string{"DashboardName": "acme"})
	body := dashboard.get("DashboardBody")
	for _, name := range append([]string{"acme-jobs", "acme-fast-io", "acme-long-running-dlq", "AWS::Region"}, functionsOf("acme")...) {
		if !strings.Contains(body, name) {
			t.Errorf("%s is not on the dashboard", name)
		}
	}
}

func functionsOf(prefix string) []string {
	var names []string
	for _, f := range functions {
		names = append(names, strings.Replace(f, "belfry", prefix, 1))
	}
	return names
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
var named = []string{"TableName", "QueueName", "FunctionName", "LogGroupName", "AlarmName", "DashboardName", "TopicName", "ClusterName", "ServiceName", "Family", "Name", "RoleName"}

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
