package stacks_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/observe/otlp"
)

// toldBy are the variables of each function, and of each worker's container, by
// its name; what stands for the region is filled in.
func toldBy(t *testing.T, i installation) map[string]map[string]string {
	t.Helper()
	all := map[string]map[string]string{}
	for _, f := range i.of(t, "AWS::Lambda::Function") {
		told, _ := at(f.Properties, "Environment.Variables").(map[string]any)
		if _, ours := told["BELFRY_PREFIX"]; !ours {
			continue
		}
		all[f.get("FunctionName")] = map[string]string{}
		for name, value := range told {
			all[f.get("FunctionName")][name] = filledIn(value)
		}
	}
	for _, task := range i.of(t, "AWS::ECS::TaskDefinition") {
		all[task.get("Family")] = map[string]string{}
		for _, v := range at(task.Properties, "ContainerDefinitions.0.Environment").([]any) {
			all[task.get("Family")][text(at(v, "Name"))] = filledIn(at(v, "Value"))
		}
	}
	return all
}

func filledIn(value any) string {
	parts, joined := at(value, "Fn::Join.1").([]any)
	if !joined {
		return text(value)
	}
	var b strings.Builder
	for _, p := range parts {
		switch ref := text(at(p, "Ref")); ref {
		case "AWS::Region":
			b.WriteString("eu-west-3")
		case "AWS::URLSuffix":
			b.WriteString("amazonaws.com")
		default:
			b.WriteString(text(p))
		}
	}
	return b.String()
}

func TestTracesGoWhereTheSettingsSay(t *testing.T) {
	for sentence, row := range map[string]struct{ settings, endpoint, ratio string }{
		"nowhere":                     {"profile: small", "", ""},
		"to X-Ray of the region":      {"profile: small\ntraces: {endpoint: xray, percent: 5}", "https://xray.eu-west-3.amazonaws.com/v1/traces", "0.05"},
		"to a collector of one's own": {"profile: large\ntraces: {endpoint: \"http://collector.internal:4318\"}", "http://collector.internal:4318/v1/traces", "1"},
	} {
		t.Run(sentence, func(t *testing.T) {
			i := installed(t, row.settings)
			everybody := toldBy(t, i)
			if len(everybody) < 8 {
				t.Fatalf("%d functions and workers", len(everybody))
			}
			for name, told := range everybody {
				s, err := otlp.ReadSettings(func(variable string) (string, bool) { v, is := told[variable]; return v, is })
				if err != nil {
					t.Fatal(err)
				}
				got := ""
				if s.Endpoint != nil {
					got = s.Endpoint.String()
				}
				if got != row.endpoint || told["OTEL_TRACES_SAMPLER_ARG"] != row.ratio {
					t.Errorf("%s sends to %q, %s of all; want %q, %s", name, got, told["OTEL_TRACES_SAMPLER_ARG"], row.endpoint, row.ratio)
				}
			}
			for _, r := range rolesOf(t, i) {
				if !slices.ContainsFunc(r.Rights, func(right string) bool { return strings.HasPrefix(right, "dynamodb:") }) {
					continue // it starts the tick, and runs no code of ours
				}
				if may := slices.Contains(r.Rights, "xray:PutSpans on *"); may != strings.Contains(row.endpoint, "xray") {
					t.Errorf("%s may put spans: %v", r.Name, may)
				}
			}
		})
	}
}
