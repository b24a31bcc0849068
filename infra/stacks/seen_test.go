package stacks_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// exported are the exports of all stacks, each with what it tells.
func (i installation) exported() map[string]string {
	found := map[string]string{}
	for _, template := range i {
		outputs, _ := template.Raw["Outputs"].(map[string]any)
		for _, output := range outputs {
			if name := text(at(output, "Export.Name")); name != "" {
				found[name] = text(at(output, "Value"))
			}
		}
	}
	return found
}

// CloudFormation refuses to remove an export, or to change what it tells, while a
// deployed stack imports it, and the stack that exports is deployed first.
func TestNoSettingTakesAwayWhatAnotherStackImports(t *testing.T) {
	before := installed(t, "profile: small").exported()
	if got := slices.Sorted(maps.Keys(before)); !slices.Equal(got, []string{"belfry-control-stream", "belfry-executions-stream"}) {
		t.Errorf("exported are %v: only a stream has no ARN that follows from its name", got)
	}
	for sentence, file := range map[string]string{
		"the archive is turned off":         "archive: {enabled: false}",
		"alarms go elsewhere":               "alarms: {topic_arn: \"arn:aws:sns:eu-west-1:111122223333:ops\"}",
		"workers run elsewhere":             "workers: {deployed: false}",
		"a pool goes":                       "pools_file: pools.yaml",
		"the tick is turned off":            "tick_enabled: false",
		"no figures are told":               "metrics: false",
		"the archive's bucket is another":   "archive: {bucket: another-history}",
		"a key of one's own encrypts":       "tables: {key_arn: \"" + key + "\"}",
		"the installation has grown":        "profile: large",
		"the workers' network is one's own": "workers: {vpc_id: vpc-12345678, subnet_ids: [subnet-0123abcd], availability_zones: [eu-west-1a]}",
	} {
		t.Run(sentence, func(t *testing.T) {
			if !strings.HasPrefix(file, "profile") {
				file = "profile: small\n" + file
			}
			after := installed(t, file).exported()
			for name, tells := range before {
				if after[name] != tells {
					t.Errorf("%s told %s, and now %q", name, tells, after[name])
				}
			}
		})
	}
}

// What a stack refers to by its name has to be there first.
func TestEveryStackIsDeployedAfterTheData(t *testing.T) {
	i := installed(t, "profile: small")
	for word, template := range i {
		var needs []string
		for _, s := range *template.Stack.Dependencies() {
			needs = append(needs, *s.StackName())
		}
		if word != "data" && !slices.Contains(needs, "belfry-data") {
			t.Errorf("%s is deployed after %v", word, needs)
		}
		if word == "data" && len(needs) > 0 {
			t.Errorf("the data come after %v", needs)
		}
	}
}

func TestAlarmsAreSentWhereTheSettingsSay(t *testing.T) {
	const own = "arn:aws:sns:eu-west-1:111122223333:ops"
	for file, want := range map[string]string{"profile: small": "belfry-alarms", "profile: small\nalarms: {topic_arn: \"" + own + "\"}": own} {
		i := installed(t, file)
		for _, word := range []string{"data", "core", "api", "watch"} {
			for _, r := range i[word].Resources {
				actions, sent := r.Properties["AlarmActions"].([]any)
				if r.Type != "AWS::CloudWatch::Alarm" || !sent {
					continue
				}
				if got := i.thing(word, actions[0]); got != want && !strings.Contains(r.get("AlarmActions.0.Ref"), "Alarms") {
					t.Errorf("%s: %s is sent to %s, want %s", word, r.get("AlarmName"), got, want)
				}
			}
		}
	}
}
