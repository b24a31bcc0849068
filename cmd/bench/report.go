package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
)

// parts say what a figure is the sum of.
type parts map[string]float64

func (p parts) sum() float64 {
	total := 0.0
	for _, v := range p {
		total += v
	}
	return total
}

// per divides every part, as by a number of executions.
func (p parts) per(n int) parts {
	divided := parts{}
	for name, v := range p {
		divided[name] = v / float64(n)
	}
	return divided
}

func (p parts) String() string {
	said := make([]string, 0, len(p))
	for _, name := range slices.Sorted(maps.Keys(p)) {
		said = append(said, name+" "+short(p[name]))
	}
	return strings.Join(said, ", ")
}

// report collects the figures of one bench.
type report struct {
	bench   string
	figures map[string]float64
	parts   map[string]parts
}

func newReport(bench string) *report {
	return &report{bench: bench, figures: map[string]float64{}, parts: map[string]parts{}}
}

// note keeps a figure, and what it is the sum of.
func (r *report) note(name string, figure float64, of parts) {
	r.figures[name] = figure
	if len(of) > 0 {
		r.parts[name] = of
	}
}

// sum keeps the sum of parts as a figure.
func (r *report) sum(name string, of parts) { r.note(name, of.sum(), of) }

// share keeps the sum of parts, divided among n, as a figure.
func (r *report) share(name string, of parts, n int) { r.note(name, of.sum()/float64(n), of.per(n)) }

// broken names the budgets that do not hold; a figure that was not measured
// breaks its row.
func (r *report) broken() []string {
	names := []string{}
	for _, row := range rowsOf(r.bench) {
		figure, measured := r.figures[row.name]
		if !measured || !row.budget.holds(figure) {
			names = append(names, row.name)
		}
	}
	return names
}

// document is what standard output gets: the figures by name, and beside them
// where they come from and what they had to be.
func (r *report) document() ([]byte, error) {
	budgets := map[string]string{}
	document := map[string]any{"bench": r.bench, "parts": r.parts, "budgets": budgets, "broken": r.broken(),
		"machine": map[string]any{"cpus": runtime.NumCPU(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH}}
	for _, row := range rowsOf(r.bench) {
		if figure, measured := r.figures[row.name]; measured {
			document[row.name] = figure
		}
		if row.budget.sign != "" {
			budgets[row.name] = row.budget.String()
		}
	}
	return json.MarshalIndent(document, "", "  ")
}

// table writes the figures for people.
func (r *report) table(to io.Writer) {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s\tmeasured\tbudget\t\t\n", r.bench)
	for _, row := range rowsOf(r.bench) {
		said, verdict := "not measured", "BROKEN"
		if figure, measured := r.figures[row.name]; measured {
			said = strings.TrimSpace(short(figure) + " " + row.unit)
			switch {
			case row.budget.sign == "":
				verdict = ""
			case row.budget.holds(figure):
				verdict = "ok"
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", row.name, said, row.budget, verdict, r.parts[row.name])
	}
	_ = w.Flush() // for a person; nobody is left to tell
	for _, name := range r.broken() {
		for _, row := range rows {
			if row.name == name {
				fmt.Fprintf(to, "budget broken: %s must be %s: %s\n", name, row.budget.of(row.unit), row.what)
			}
		}
	}
}
