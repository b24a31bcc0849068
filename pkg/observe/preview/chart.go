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
	Class  string // its colour, by the page's style
	values []float64
}

// lines are the visible series of a widget.
func lines(w observe.Widget, pools []string) []line {
	var all []line
	add := func(s observe.Series, label string) {
		v := told(s, label).values(w.Title + label)
		all = append(all, line{Label: label, values: v, Last: show(v[len(v)-1], w.Unit), Class: class(len(all))})
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

// class is the style of a widget's nth line.
func class(n int) string {
	c := "c" + strconv.Itoa(n%colors)
	if n >= colors {
		c += " dashed"
	}
	return c
}

// colors are how many the page has; a further line takes the first again, dashed.
const colors = 6

// chart draws lines as SVG in a grid of points by 100, which the page stretches
// to the size of the card; the words of its axes are HTML, and keep theirs.
func chart(w observe.Widget, all []line) plot {
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
	p := plot{Title: w.Title}
	for _, part := range []float64{1, .5, 0} {
		p.Levels = append(p.Levels, show(ceiling*part, w.Unit))
	}
	p.Shapes = template.HTML(draw(w, all, func(v float64) float64 { return 100 * (1 - v/ceiling) }))
	return p
}

// plot is a chart with the words beside it.
type plot struct {
	Title  string
	Levels []string // from the top down
	Shapes template.HTML
}

// draw are the lines; stacked ones are areas upon each other, the lowest drawn
// last, so that an empty one above does not hide its edge.
func draw(w observe.Widget, all []line, y func(float64) float64) string {
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
			fmt.Fprintf(&path, "%s%d %.1f", map[bool]string{true: "M", false: "L"}[n == 0], n, y(v))
			last := points - 1 - n
			fmt.Fprintf(&back, "L%d %.1f", last, y(below[last]))
		}
		shapes[i] = fmt.Sprintf(`<path class="line %s" d="%s"/>`, l.Class, path.String())
		if w.View == observe.Stacked {
			shapes[i] = fmt.Sprintf(`<path class="area %s" d="%s%sZ"/>`, l.Class, path.String(), back.String()) + shapes[i]
			below = edge
		}
	}
	if w.View == observe.Stacked {
		slices.Reverse(shapes)
	}
	return strings.Join(shapes, "")
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
