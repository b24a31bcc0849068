package preview

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/observe"
)

// line is one line of a chart.
type line struct {
	Label  string
	Last   string
	Color  int // which of the page's colours
	values []float64
}

// lines are the visible series of a widget.
func lines(w observe.Widget, pools []string) []line {
	var all []line
	add := func(s observe.Series, label string) {
		v := told(s, label).values(w.Title + label)
		all = append(all, line{Label: label, values: v, Last: show(v[len(v)-1], w.Unit), Color: len(all) % colors})
	}
	for _, s := range w.Series {
		switch {
		case s.Hidden:
		case s.Split != "":
			for _, value := range split(s, pools) {
				add(s, strings.TrimSpace(s.Label+" "+value))
			}
		default:
			add(s, s.Label)
		}
	}
	return all
}

const (
	colors = 6
	inset  = 46.0 // for the axis
	top    = 8.0
	bottom = 20.0
	height = 150.0
)

// chart draws lines as SVG, as wide as the widget is.
func chart(w observe.Widget, all []line) template.HTML {
	width := float64(w.Width) * 52
	most := 0.0
	stack := make([]float64, points)
	for _, l := range all {
		for n, v := range l.values {
			stack[n] += v
			if w.View == observe.Stacked {
				v = stack[n]
			}
			most = max(most, v)
		}
	}
	ceiling := round(most)
	x := func(n int) float64 { return inset + float64(n)*(width-inset-6)/(points-1) }
	y := func(v float64) float64 { return top + (height-top-bottom)*(1-v/ceiling) }
	var out strings.Builder
	fmt.Fprintf(&out, `<svg viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">`, width, height, template.HTMLEscapeString(w.Title))
	for _, part := range []float64{0, .5, 1} {
		fmt.Fprintf(&out, `<line class="grid" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/><text x="%.1f" y="%.1f" text-anchor="end">%s</text>`,
			inset, width-6, y(ceiling*part), y(ceiling*part), inset-7, y(ceiling*part)+3.5, show(ceiling*part, w.Unit))
	}
	for hour, text := range []string{"00:00", "01:00", "02:00", "03:00"} {
		anchor := map[int]string{0: "start", 3: "end"}[hour]
		if anchor == "" {
			anchor = "middle"
		}
		fmt.Fprintf(&out, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x(hour*(points-1)/3), height-4, anchor, text)
	}
	draw(&out, w, all, x, y)
	out.WriteString(`</svg>`)
	return template.HTML(out.String())
}

// draw adds the lines; stacked ones are areas upon each other, the lowest drawn
// last, so that an empty one above does not hide its edge.
func draw(out *strings.Builder, w observe.Widget, all []line, x func(int) float64, y func(float64) float64) {
	shapes := make([]string, len(all))
	below := make([]float64, points)
	for i, l := range all {
		var path, back strings.Builder
		edge := make([]float64, points)
		for n, v := range l.values {
			if w.View == observe.Stacked {
				v += below[n]
			}
			edge[n] = v
			fmt.Fprintf(&path, "%s%.1f %.1f", map[bool]string{true: "M", false: "L"}[n == 0], x(n), y(v))
			last := points - 1 - n
			fmt.Fprintf(&back, "L%.1f %.1f", x(last), y(below[last]))
		}
		shapes[i] = fmt.Sprintf(`<path class="line c%d" d="%s"/>`, l.Color, path.String())
		if w.View == observe.Stacked {
			shapes[i] = fmt.Sprintf(`<path class="area c%d" d="%s%sZ"/>`, l.Color, path.String(), back.String()) + shapes[i]
			below = edge
		}
	}
	if w.View == observe.Stacked {
		slices.Reverse(shapes)
	}
	out.WriteString(strings.Join(shapes, ""))
}

// round gives the top of an axis: 1, 2 or 5 times a power of ten, at least 1.
func round(most float64) float64 {
	if most <= 1 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(most)))
	for _, step := range []float64{1, 2, 5, 10} {
		if most <= step*power {
			return step * power
		}
	}
	return 10 * power
}

// show writes a value as people read it.
func show(v float64, unit string) string {
	switch {
	case unit == "ms" && v >= 1000:
		return trimmed(v/1000) + " s"
	case unit == "ms" || unit == "s":
		return trimmed(v) + " " + unit
	case v >= 10_000:
		return trimmed(v/1000) + "k"
	}
	return trimmed(v)
}

// trimmed keeps three figures.
func trimmed(v float64) string {
	if v >= 100 || v == math.Trunc(v) {
		return strconv.FormatFloat(math.Round(v), 'f', -1, 64)
	}
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}
