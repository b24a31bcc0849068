package observe

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"time"
)

// Bounds of one line by the embedded metric format.
const (
	mostValues  = 100 // of one metric
	mostMetrics = 100 // in one directive
)

// directive tells CloudWatch which members of a line are metrics, and by which
// others they are split.
type directive struct {
	Namespace  string
	Dimensions [][]Dimension
	Metrics    []definition
}

type definition struct {
	Name string
	Unit Unit
}

// metadata is the member of a line that makes it more than a log line.
type metadata struct {
	Timestamp         int64
	CloudWatchMetrics []directive
}

// encode writes the series as lines of JSON. Metrics of the same values
// share a line; one with more values than a line takes goes on in the next. The
// same series give the same bytes.
func encode(namespace string, at time.Time, collected map[series][]int64) []byte {
	var out bytes.Buffer
	lines := json.NewEncoder(&out)
	for _, group := range groups(collected) {
		for from := 0; ; from += mostValues {
			line, some := group.line(namespace, at, collected, from)
			if !some {
				break
			}
			_ = lines.Encode(line) // strings and whole numbers: it cannot fail
		}
	}
	return out.Bytes()
}

// group is series that share a line: the same values under the same sets.
type group struct {
	metrics []*Metric
	values
}

func groups(collected map[series][]int64) []*group {
	all := map[values]*group{}
	for s := range collected {
		if all[s.values] == nil {
			all[s.values] = &group{values: s.values}
		}
		all[s.values].metrics = append(all[s.values].metrics, Find(s.name))
	}
	ordered := make([]*group, 0, len(all))
	for _, g := range all {
		slices.SortFunc(g.metrics, func(a, b *Metric) int { return slices.Index(Metrics, a) - slices.Index(Metrics, b) })
		ordered = append(ordered, g)
	}
	slices.SortFunc(ordered, func(a, b *group) int {
		return cmp.Or(cmp.Compare(a.pool, b.pool), cmp.Compare(a.kind, b.kind), cmp.Compare(a.target, b.target), cmp.Compare(a.reason, b.reason))
	})
	return ordered
}

// line is the group's values from a place on; some is false when there are none.
func (g *group) line(namespace string, at time.Time, collected map[series][]int64, from int) (line map[string]any, some bool) {
	d := directive{Namespace: namespace, Dimensions: g.metrics[0].Sets()}
	line = map[string]any{}
	for _, m := range g.metrics {
		values := collected[series{m.Name, g.values}]
		if len(values) <= from {
			continue
		}
		d.Metrics = append(d.Metrics, definition{m.Name, m.Unit})
		if values = values[from:min(from+mostValues, len(values))]; len(values) == 1 {
			line[m.Name] = values[0]
		} else {
			line[m.Name] = values
		}
	}
	g.each(func(d Dimension, value string) {
		if value != "" {
			line[string(d)] = value
		}
	})
	line["_aws"] = metadata{Timestamp: at.UnixMilli(), CloudWatchMetrics: []directive{d}}
	return line, len(d.Metrics) > 0
}
