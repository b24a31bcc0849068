package preview

import (
	_ "embed"
	"html/template"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/observe"
)

//go:embed page.html
var layout string

var page = template.Must(template.New("page").Parse(layout))

// card is a widget as the page shows it.
type card struct {
	observe.Widget
	Number string
	Under  string // of a number: what it is
	Lines  []line
	Plot   plot
}

type section struct {
	Title, Says string
	Cards       []card
}

// Page draws the dashboard of a site.
func Page(site observe.Site) (string, error) {
	pools := make([]string, len(site.Pools))
	for i, p := range site.Pools {
		pools[i] = p.Name
	}
	var all []section
	for _, s := range observe.Dashboard(site) {
		shown := section{Title: s.Title, Says: s.Says}
		for _, w := range s.Widgets {
			shown.Cards = append(shown.Cards, draft(w, pools))
		}
		all = append(all, shown)
	}
	var out strings.Builder
	err := page.Execute(&out, struct {
		Prefix   string
		Sections []section
	}{site.Prefix, all})
	return out.String(), err
}

func draft(w observe.Widget, pools []string) card {
	c := card{Widget: w}
	switch w.View {
	case observe.Numbers:
		c.Number, c.Under = numbers[w.Title], w.Series[len(w.Series)-1].Label
	case observe.Lines, observe.Stacked:
		c.Lines = lines(w, pools)
		c.Plot = chart(w, c.Lines)
	case observe.States:
	}
	return c
}
