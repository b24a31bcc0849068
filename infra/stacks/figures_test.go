package stacks_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/observe"
)

// bodyOf is the dashboard as CloudWatch gets it, region and account put in.
func bodyOf(t *testing.T, i installation) string {
	t.Helper()
	raw := at(i.of(t, "AWS::CloudWatch::Dashboard")[0].Properties, "DashboardBody")
	parts, _ := at(raw, "Fn::Join.1").([]any)
	var body strings.Builder
	for _, part := range parts {
		if word, isText := part.(string); isText {
			body.WriteString(word)
		} else {
			body.WriteString(text(at(part, "Ref")))
		}
	}
	if !json.Valid([]byte(body.String())) {
		t.Fatalf("the dashboard's body is no JSON: %s", body.String())
	}
	return body.String()
}

// ownMetrics are the metrics in Belfry's own namespace that alarms measure.
func ownMetrics(value any, found map[string]bool) {
	switch v := value.(type) {
	case map[string]any:
		if v["Namespace"] == "Belfry/belfry" {
			found[text(v["MetricName"])] = true
		}
		for _, inner := range v {
			ownMetrics(inner, found)
		}
	case []any:
		for _, inner := range v {
			ownMetrics(inner, found)
		}
	}
}

// TestDashboardAndAlarmsShowWhatIsEmitted is one half; that the listed metrics
// are emitted is seen where the functions run.
func TestDashboardAndAlarmsShowWhatIsEmitted(t *testing.T) {
	i := installed(t, "profile: small")
	shown, measured := map[string]bool{}, map[string]bool{}
	for _, m := range regexp.MustCompile(`"Belfry/belfry","([a-z_]+)"|MetricName=\\"([a-z_]+)\\"`).FindAllStringSubmatch(bodyOf(t, i), -1) {
		shown[m[1]+m[2]] = true
	}
	for _, alarm := range i.of(t, "AWS::CloudWatch::Alarm") {
		ownMetrics(alarm.Properties, measured)
	}
	for _, alarm := range observe.Alarms(observe.Site{}) {
		for _, one := range alarm.Series {
			if one.Metric != nil && !measured[one.Metric.Name] {
				t.Errorf("no alarm measures %s, which %s is about", one.Metric.Name, alarm.Name)
			}
		}
	}
	for _, m := range observe.Metrics {
		if !shown[m.Name] {
			t.Errorf("%s is emitted and not on the dashboard", m.Name)
		}
		delete(shown, m.Name)
		delete(measured, m.Name)
	}
	if len(shown) > 0 || len(measured) > 0 {
		t.Errorf("the dashboard shows %v and alarms measure %v, which nobody emits", shown, measured)
	}
}

func TestWithoutFiguresNothingIsMadeOfThem(t *testing.T) {
	i := installed(t, "profile: small\nmetrics: false")
	measured := map[string]bool{}
	for _, alarm := range i.of(t, "AWS::CloudWatch::Alarm") {
		ownMetrics(alarm.Properties, measured)
	}
	for _, r := range i["watch"].Resources {
		if r.Type == "AWS::CloudWatch::Dashboard" || r.Type == "AWS::CloudWatch::CompositeAlarm" {
			t.Errorf("%s is made of figures that nobody tells", r.ID)
		}
	}
	if len(measured) > 0 {
		t.Errorf("alarms measure %v, which nobody emits", measured)
	}
	i.named(t, "AWS::CloudWatch::Alarm", "AlarmName", "belfry-tick-missing").expect(t, map[string]string{"Namespace": "AWS/Lambda", "MetricName": "Invocations"})
	i.named(t, "AWS::Lambda::Function", "FunctionName", "belfry-record").expect(t, map[string]string{"Environment.Variables.BELFRY_METRICS": "off"})
}
