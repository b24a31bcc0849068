package observe_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/observe"
)

type noon struct{}

func (noon) Now() time.Time { return time.Date(2026, 7, 12, 12, 0, 0, 123e6, time.UTC) }

func emitter(out *bytes.Buffer) *observe.Emitter {
	return observe.New(observe.Options{Namespace: observe.Namespace("belfry"), Out: out, Clock: noon{}, Pools: []string{"fast-io", "cpu-heavy"},
		Types:   []string{"report"},
		Reasons: []job.Reason{"MAX_AGE", "POISON"}})
}

// golden compares text with a file; UPDATE_GOLDEN=1 writes it.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || string(want) != got {
		t.Errorf("%s is out of date (%v); run the test with UPDATE_GOLDEN=1 and look at the difference", path, err)
	}
}

func TestLinesAreTheEmbeddedMetricFormat(t *testing.T) {
	var out bytes.Buffer
	b := emitter(&out).Batch()
	fast, heavy := observe.Labels{Pool: "fast-io", Type: "report", Target: "webhook"}, observe.Labels{Pool: "cpu-heavy", Type: "gone", Target: "fax"}
	b.Observe(observe.StartLag, fast, 12*time.Millisecond)
	b.Observe(observe.StartLag, heavy, 31*time.Second)
	b.Count(observe.LateStarts, fast, 0)
	b.Count(observe.LateStarts, heavy, 1)
	for n := range 205 {
		b.Observe(observe.RunDuration, fast, time.Duration(n)*time.Millisecond)
	}
	b.Count(observe.Dead, observe.Labels{Pool: "fast-io", Reason: "POISON"}, 1)
	b.Count(observe.Dead, observe.Labels{Pool: "fast-io", Reason: "POISON"}, 1)
	b.Count(observe.Missed, observe.Labels{Pool: "fast-io", Reason: "MAX_AGE"}, 7)
	b.Observe(observe.Overdue, fast, -time.Second)
	b.Flush()
	for line := range strings.Lines(out.String()) {
		if err := conforms(line); err != nil {
			t.Errorf("%v in %s", err, line)
		}
	}
	golden(t, "testdata/lines.jsonl", out.String())
	out.Reset()
	b.Flush()
	if out.Len() > 0 {
		t.Errorf("what was flushed was flushed again: %s", &out)
	}
}

func TestNoValueIsLostAndNoLineIsTooLong(t *testing.T) {
	pools := rapid.SampledFrom([]string{"fast-io", "cpu-heavy", "gone", ""})
	rapid.Check(t, func(t *rapid.T) {
		var out bytes.Buffer
		b := emitter(&out).Batch()
		want := map[string]float64{}
		for range rapid.IntRange(0, 12).Draw(t, "kinds of figures") {
			l := observe.Labels{Pool: pools.Draw(t, "pool"), Type: rapid.SampledFrom([]string{"report", "gone", ""}).Draw(t, "type"),
				Target: rapid.SampledFrom([]string{"webhook", "log", "fax", ""}).Draw(t, "target"), Reason: rapid.SampledFrom([]job.Reason{"POISON", "NEW_WORD", ""}).Draw(t, "reason")}
			m := rapid.SampledFrom(observe.Metrics).Draw(t, "metric")
			for range rapid.IntRange(1, 250).Draw(t, "values") {
				n := rapid.IntRange(0, 1e6).Draw(t, "value")
				want[m.Name] += float64(n)
				if m.Unit == observe.Count {
					b.Count(observe.Counter{Metric: *m}, l, n)
				} else {
					b.Observe(observe.Timer{Metric: *m}, l, time.Duration(n)*time.Millisecond)
				}
			}
		}
		b.Flush()
		got := map[string]float64{}
		for line := range strings.Lines(out.String()) {
			if err := errors.Join(conforms(line), add(got, line)); err != nil {
				t.Fatalf("%v in %s", err, line)
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
	})
}

// add sums what a line tells of each metric.
func add(sums map[string]float64, line string) error {
	root, directives, err := open(line)
	for _, d := range directives {
		for _, m := range d.Metrics {
			values, _ := root[m.Name].([]any)
			if one, single := root[m.Name].(float64); single {
				values = []any{one}
			}
			for _, v := range values {
				sums[m.Name] += v.(float64)
			}
		}
	}
	return err
}

type directive struct {
	Namespace  string
	Dimensions [][]string
	Metrics    []struct{ Name, Unit string }
}

func open(line string) (root map[string]any, directives []directive, err error) {
	var meta struct {
		AWS struct{ CloudWatchMetrics []directive } `json:"_aws"`
	}
	err = errors.Join(json.Unmarshal([]byte(line), &root), json.Unmarshal([]byte(line), &meta))
	return root, meta.AWS.CloudWatchMetrics, err
}

// conforms checks a line by the rules of the specification of the embedded
// metric format, as CloudWatch publishes it.
func conforms(line string) error {
	root, directives, err := open(line)
	if err != nil {
		return err
	}
	meta, _ := root["_aws"].(map[string]any)
	at, isNumber := meta["Timestamp"].(float64)
	switch {
	case strings.Count(line, "\n") != 1 || len(line) > 256<<10:
		return errors.New("not one line of at most 256 KB")
	case !isNumber || int64(at) != noon{}.Now().UnixMilli():
		return fmt.Errorf("Timestamp is %v, not milliseconds of the epoch", meta["Timestamp"])
	case len(meta) != 2 || len(directives) == 0:
		return errors.New("_aws holds something else than Timestamp and CloudWatchMetrics")
	}
	for _, d := range directives {
		if err := d.conforms(root); err != nil {
			return err
		}
	}
	return nil
}

func (d directive) conforms(root map[string]any) error {
	if d.Namespace == "" || len(d.Namespace) > 255 || len(d.Dimensions) == 0 || len(d.Metrics) == 0 || len(d.Metrics) > 100 {
		return fmt.Errorf("directive out of bounds: %+v", d)
	}
	for _, set := range d.Dimensions {
		for _, name := range set {
			if value, text := root[name].(string); len(set) > 9 || !text || value == "" || len(value) > 1024 {
				return fmt.Errorf("dimension %s of %v is %v", name, set, root[name])
			}
		}
	}
	units := []string{"Milliseconds", "Count"}
	for _, m := range d.Metrics {
		if m.Name == "" || len(m.Name) > 255 || !slices.Contains(units, m.Unit) {
			return fmt.Errorf("metric %+v", m)
		}
		switch target := root[m.Name].(type) {
		case float64:
		case []any:
			if len(target) == 0 || len(target) > 100 {
				return fmt.Errorf("%s has %d values", m.Name, len(target))
			}
		default:
			return fmt.Errorf("%s is %v, no number and no list", m.Name, target)
		}
	}
	return nil
}

func TestAnUnknownValueOfADimensionMakesNoMetricOfItsOwn(t *testing.T) {
	var out bytes.Buffer
	b := emitter(&out).Batch()
	for n := range 1000 {
		b.Count(observe.Dead, observe.Labels{Pool: fmt.Sprintf("pool-%d", n), Type: fmt.Sprintf("type-%d", n), Reason: job.Reason(fmt.Sprintf("REASON_%d", n))}, 1)
	}
	b.Flush()
	if n := strings.Count(out.String(), "\n"); n != 1 || !strings.Contains(out.String(), `"dead":1000,"pool":"other","reason":"other","type":"other"`) {
		t.Errorf("%d lines: %s", n, &out)
	}
}

func TestAMetricThatIsNotListedGoesNowhere(t *testing.T) {
	var out bytes.Buffer
	b := emitter(&out).Batch()
	b.Count(observe.Counter{Metric: observe.Metric{Name: "by_job"}}, observe.Labels{}, 1)
	b.Observe(observe.Timer{Metric: observe.Metric{Name: "by_job"}}, observe.Labels{}, time.Second)
	if b.Flush(); out.Len() > 0 {
		t.Errorf("wrote %s", &out)
	}
}

func TestOffCostsNothing(t *testing.T) {
	off := observe.New(observe.Options{Clock: noon{}})
	if n := testing.AllocsPerRun(100, func() {
		b := off.Batch()
		b.Count(observe.Ticks, observe.Labels{Pool: "fast-io"}, 1)
		b.Observe(observe.StartLag, observe.Labels{Pool: "fast-io"}, time.Second)
		b.Flush()
	}); n != 0 {
		t.Errorf("an emitter that is off allocates %v times", n)
	}
}

// writes counts calls of Write.
type writes int

func (w *writes) Write(p []byte) (int, error) { *w++; return 0, errors.New("closed") }

func TestABatchIsOneWriteWhichMayFail(t *testing.T) {
	var out writes
	e := observe.New(observe.Options{Namespace: "Belfry/x", Out: &out, Clock: noon{}})
	b := e.Batch()
	for range 500 {
		b.Observe(observe.StartLag, observe.Labels{}, time.Second)
		b.Observe(observe.Overdue, observe.Labels{}, time.Second)
	}
	if b.Flush(); out != 1 {
		t.Errorf("%d writes, want 1", out)
	}
}
