package cost

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// resource is what these tests ask of a resource of a template.
type resource struct {
	Type       string
	Properties struct {
		MemorySize   float64
		BatchSize    float64
		Metrics      []struct{ MetricStat json.RawMessage }
		FunctionName json.RawMessage
	}
}

// small are the resources of the stacks as they ship, out of the golden
// templates of the CDK app.
func small(t *testing.T) map[string]resource {
	t.Helper()
	paths, err := filepath.Glob("../../infra/stacks/testdata/small/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no templates: %v", err)
	}
	all := map[string]resource{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var template struct{ Resources map[string]resource }
		if err := json.Unmarshal(text, &template); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for id, r := range template.Resources {
			all[filepath.Base(path)+" "+id] = r
		}
	}
	return all
}

// watched is how many metrics an alarm is billed for.
func watched(r resource) float64 {
	n := 0.0
	for _, m := range r.Properties.Metrics {
		if len(m.MetricStat) > 0 {
			n++
		}
	}
	return max(n, 1)
}

func TestWhatIsAssumedOfTheStackIsWhatItMakes(t *testing.T) {
	made := map[string]float64{}
	for id, r := range small(t) {
		switch r.Type {
		case "AWS::CloudWatch::Alarm":
			made["alarms"] += watched(r)
		case "AWS::CloudWatch::CompositeAlarm":
			made["composite alarms"]++
		case "AWS::CloudWatch::Dashboard":
			made["dashboards"]++
		case "AWS::Lambda::EventSourceMapping":
			if strings.Contains(id, "DynamoDBEventSource") {
				if strings.Contains(string(r.Properties.FunctionName), "RecordFunction") { // the archive's is bounded by bytes
					made["stream batch"] = r.Properties.BatchSize
				}
			} else {
				made["polled queues"]++
			}
		case "AWS::Lambda::Function":
			for _, name := range []string{"Tick", "Scan", "Record", "Archive", "Api"} {
				if strings.Contains(id, " "+name+"Function") {
					made[strings.ToLower(name)+" memory"] = r.Properties.MemorySize / 1024
				}
			}
		}
	}
	// Alarms come and go; the bill may be a little too dear, never too cheap.
	spare := map[string]float64{"alarms": 40, "composite alarms": 2, "dashboards": 1}
	for _, name := range []string{"alarms", "composite alarms", "dashboards", "polled queues", "stream batch", "tick memory", "scan memory", "record memory", "archive memory", "api memory"} {
		if n := made[name]; assumed(name) < n || assumed(name) > n+spare[name] {
			t.Errorf("%s: %v is assumed, the stacks have %v: bring pkg/cost/assumed.go up to date, and the page with -update", name, assumed(name), n)
		}
	}
}
