package observe

import (
	"encoding/json"
	"strings"
)

// Columns and rows of CloudWatch's grid.
const (
	columns      = 24
	textHeight   = 2
	numberHeight = 3
	chartHeight  = 6
)

// placed is a widget of a CloudWatch dashboard's body.
type placed struct {
	Type       string         `json:"type"`
	X          int            `json:"x"`
	Y          int            `json:"y"`
	Width      int            `json:"width"`
	Height     int            `json:"height"`
	Properties map[string]any `json:"properties"`
}

// Body is the dashboard as CloudWatch takes it: the DashboardBody of an
// AWS::CloudWatch::Dashboard.
func Body(s Site) string {
	var all []placed
	y := 0
	for _, section := range Dashboard(s) {
		all = append(all, placed{Type: "text", Y: y, Width: columns, Height: textHeight,
			Properties: map[string]any{"markdown": "## " + section.Title + "\n" + section.Says, "background": "transparent"}})
		y += textHeight
		x := 0
		for _, w := range section.Widgets {
			if x+w.Width > columns {
				x, y = 0, y+all[len(all)-1].Height
			}
			all = append(all, placed{Type: w.kind(), X: x, Y: y, Width: w.Width, Height: w.height(), Properties: w.properties(s)})
			x += w.Width
		}
		y += all[len(all)-1].Height
	}
	body, _ := json.Marshal(map[string]any{"widgets": all, "periodOverride": "inherit"}) // maps, lists and texts: it cannot fail
	return string(body)
}

func (w Widget) kind() string {
	if w.View == States {
		return "alarm"
	}
	return "metric"
}

func (w Widget) height() int {
	if w.View == Numbers || w.View == States {
		return numberHeight
	}
	return chartHeight
}

// period of a chart's points, in seconds; a number is about the last hour.
func (w Widget) period() int {
	if w.View == Numbers {
		return 3600
	}
	return 60
}

func (w Widget) properties(s Site) map[string]any {
	if w.View == States {
		arns := make([]string, len(w.Alarms))
		for i, name := range w.Alarms {
			arns[i] = s.AlarmARN + s.Prefix + "-" + name
		}
		return map[string]any{"title": w.Title, "alarms": arns}
	}
	metrics := make([]any, len(w.Series))
	for i, one := range w.Series {
		metrics[i] = one.array(s, w.period())
	}
	p := map[string]any{"title": w.Title, "view": "timeSeries", "stacked": w.View == Stacked, "region": s.Region, "period": w.period(), "metrics": metrics}
	if w.View == Numbers {
		p["view"] = "singleValue"
		delete(p, "stacked")
		return p
	}
	axis := map[string]any{"min": 0, "showUnits": false}
	if w.Unit != "" {
		axis["label"] = w.Unit
	}
	p["yAxis"] = map[string]any{"left": axis}
	return p
}

// array is the series in the form of a metrics array.
func (s Series) array(site Site, period int) []any {
	shown := map[string]any{}
	if s.Label != "" {
		shown["label"] = s.Label
	}
	if s.ID != "" {
		shown["id"] = s.ID
	}
	if s.Hidden {
		shown["visible"] = false
	}
	switch {
	case s.Expression != "":
		shown["expression"] = s.Expression
		return []any{shown}
	case s.Split != "" && s.Value == "":
		shown["expression"], shown["label"] = s.search(site, period), strings.TrimSpace(s.Label+" ${PROP('Dim."+string(s.Split)+"')}")
		return []any{shown}
	}
	namespace, name, of := s.Source(site)
	shown["stat"] = s.Stat
	out := []any{namespace, name}
	for _, p := range of {
		out = append(out, p.Name, p.Value)
	}
	return append(out, shown)
}

// Source is where CloudWatch keeps the series; an expression has none.
func (s Series) Source(site Site) (namespace, name string, of []Property) {
	if s.Metric == nil {
		return s.Namespace, s.Name, s.Of
	}
	if s.Value != "" {
		of = []Property{{string(s.Split), s.Value}}
	}
	return Namespace(site.Prefix), s.Metric.Name, of
}

// search finds one series for each value of the dimension, new ones included.
func (s Series) search(site Site, period int) string {
	seconds, _ := json.Marshal(period)
	return `SEARCH('{"` + Namespace(site.Prefix) + `",` + string(s.Split) + `} MetricName="` + s.Metric.Name + `"', '` + s.Stat + `', ` + string(seconds) + `)`
}
