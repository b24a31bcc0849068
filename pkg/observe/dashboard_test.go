package observe_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/observe"
)

// namesOf are the metrics of the list that series show or measure.
func namesOf(all []observe.Series) map[string]bool {
	names := map[string]bool{}
	for _, s := range all {
		if s.Metric != nil {
			names[s.Metric.Name] = true
		}
	}
	return names
}

func TestEveryMetricIsOnTheDashboard(t *testing.T) {
	shown := map[string]bool{}
	for _, section := range observe.Dashboard(site()) {
		for _, w := range section.Widgets {
			for name := range namesOf(w.Series) {
				shown[name] = true
			}
		}
	}
	for _, m := range observe.Metrics {
		if !shown[m.Name] {
			t.Errorf("%s is emitted and in no widget", m.Name)
		}
	}
}

// Each value of a dimension is a metric to pay for: a split that nobody sees is
// money for nothing.
func TestEverySplitOfAMetricIsShownOrWatched(t *testing.T) {
	shown := map[string]bool{}
	see := func(all []observe.Series) {
		for _, s := range all {
			if s.Metric != nil && s.Split != "" {
				shown[s.Metric.Name+" by "+string(s.Split)] = true
			}
		}
	}
	for _, section := range observe.Dashboard(site()) {
		for _, w := range section.Widgets {
			see(w.Series)
		}
	}
	for _, m := range observe.Metrics {
		for _, by := range m.By {
			if !shown[m.Name+" by "+string(by)] {
				t.Errorf("%s is split by %s and in no widget so", m.Name, by)
			}
		}
	}
}

// TestSeriesCanBeRead checks what neither CloudFormation nor a compiler does: a
// widget or alarm whose series name nothing stays empty without a word.
func TestSeriesCanBeRead(t *testing.T) {
	check := func(where string, all []observe.Series) {
		ids := map[string]bool{}
		visible := 0
		for _, s := range all {
			if s.ID != "" && (ids[s.ID] || !regexp.MustCompile(`^[a-z][a-zA-Z0-9_]*$`).MatchString(s.ID)) {
				t.Errorf("%s: the id %q is taken or none", where, s.ID)
			}
			ids[s.ID] = true
			if !s.Hidden {
				visible++
			}
			for _, word := range regexp.MustCompile(`\b[a-z][a-z0-9]*\b`).FindAllString(s.Expression, -1) {
				if !ids[word] {
					t.Errorf("%s: the expression %q uses %s, which no series before it is called", where, s.Expression, word)
				}
			}
			switch m := s.Metric; {
			case s.Expression != "":
			case m == nil && (!strings.HasPrefix(s.Namespace, "AWS/") || s.Name == "" || s.Stat == "" || len(s.Of) == 0):
				t.Errorf("%s: %+v names no metric of AWS", where, s)
			case m != nil && (!slices.Contains(observe.Metrics, m) || s.Stat == ""):
				t.Errorf("%s: %+v names no metric of the list", where, s)
			case m != nil && s.Split != "" && !slices.Contains(m.By, s.Split):
				t.Errorf("%s: %s is not split by %s", where, m.Name, s.Split)
			}
		}
		if visible == 0 {
			t.Errorf("%s shows nothing", where)
		}
	}
	for _, section := range observe.Dashboard(site()) {
		for _, w := range section.Widgets {
			if w.View != observe.States {
				check("widget "+w.Title, w.Series)
			}
		}
	}
	for _, a := range observe.Alarms(site()) {
		if len(a.All) == 0 {
			check("alarm "+a.Name, a.Series)
		}
	}
}

func TestTheBodyIsWhatCloudWatchTakes(t *testing.T) {
	raw := observe.Body(site())
	var body struct {
		Widgets []struct {
			Type                string
			X, Y, Width, Height int
			Properties          map[string]any
		}
	}
	if err := json.Unmarshal([]byte(raw), &body); err != nil {
		t.Fatal(err)
	}
	taken := map[[2]int]string{}
	for _, w := range body.Widgets {
		title, _ := w.Properties["title"].(string)
		if w.X < 0 || w.X+w.Width > 24 || w.Width == 0 || w.Height == 0 {
			t.Errorf("%q lies outside of the grid: %+v", title, w)
		}
		for x := w.X; x < w.X+w.Width; x++ {
			for y := w.Y; y < w.Y+w.Height; y++ {
				if other, is := taken[[2]int{x, y}]; is {
					t.Fatalf("%q lies upon %q", title, other)
				}
				taken[[2]int{x, y}] = title
			}
		}
		if w.Type == "metric" && (w.Properties["region"] != "eu-central-1" || w.Properties["metrics"] == nil) {
			t.Errorf("%q has no region or no metrics", title)
		}
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, []byte(raw), "", " "); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/body.json", pretty.String()+"\n")
}
