package cost

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/cost.md, and the table in the README, anew")

const (
	pagePath   = "../../docs/cost.md"
	readmePath = "../../README.md"
	readmeFrom = "<!-- made by pkg/cost: three sizes -->\n"
	readmeTo   = "<!-- end -->\n"
)

// row is a line of a Markdown table.
func row(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// sizesTable sets the examples beside their peers.
func sizesTable(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for i, s := range Sizes() {
		bill := compute(t, s.Input)
		names, lines, sums := []string{"a month, US dollars", "Belfry"}, []string{"---", "---:"}, []string{"**" + s.Name + "**: " + s.Says, "**" + Dollars(bill.Scheduling) + "**"}
		for _, p := range bill.Peers {
			names, lines, sums = append(names, p.Name), append(lines, "---:"), append(sums, Dollars(p.USD))
		}
		if i == 0 {
			b.WriteString(row(names...) + row(lines...))
		}
		b.WriteString(row(sums...))
	}
	return b.String()
}

// linesTable is what Belfry's part of each example consists of.
func linesTable(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	head, rule := []string{"line"}, []string{"---"}
	var bills []Bill
	for _, s := range Sizes() {
		head, rule, bills = append(head, s.Name), append(rule, "---:"), append(bills, compute(t, s.Input))
	}
	b.WriteString(row(head...) + row(rule...))
	sums := func(name string, of func(Bill) float64) {
		cells := []string{name}
		for _, bill := range bills {
			cells = append(cells, Dollars(of(bill)))
		}
		b.WriteString(row(cells...))
	}
	for i, l := range bills[0].Lines {
		sums("`"+l.Name+"`", func(bill Bill) float64 { return bill.Lines[i].USD })
	}
	sums("**Belfry**, the handlers left out", func(bill Bill) float64 { return bill.Scheduling })
	sums("for a million executions", func(bill Bill) float64 { return bill.PerMillion })
	sums("of it, while nothing is due", func(bill Bill) float64 { return bill.Idle })
	return b.String()
}

func measuredTable() string {
	var b strings.Builder
	b.WriteString(row("unit", "amount", "for each", "measured as") + row("---", "---:", "---", "---"))
	for _, u := range Measured {
		from := "`" + u.Figure + "`"
		if u.Part != "" {
			from += ", " + u.Part
		}
		b.WriteString(row(u.Name, plain(u.Amount), u.Each, from))
	}
	return b.String()
}

func assumedTable() string {
	var b strings.Builder
	b.WriteString(row("assumption", "amount", "unit", "why") + row("---", "---:", "---", "---"))
	for _, a := range Assumed {
		b.WriteString(row(a.Name, plain(a.Amount), a.Unit, a.Why))
	}
	return b.String()
}

func pricesTable() string {
	var b strings.Builder
	b.WriteString(row("price", "US dollars", "for", "free for good each month", "list", "checked with") + row("---", "---:", "---", "---:", "---", "---"))
	for _, p := range Prices {
		per, free := p.Unit, "–"
		if p.Per == million {
			per = "a million " + p.Unit
		}
		if p.Free > 0 {
			free = Grouped(p.Free)
		}
		b.WriteString(row(p.Name, plain(p.USD), per, free, "<"+p.Source+">", p.Seen))
	}
	var tiers []string
	for _, tier := range ActionTiers {
		tiers = append(tiers, fmt.Sprintf("$%s up to %s", plain(tier.USD), Grouped(tier.UpTo)))
	}
	b.WriteString("\nTemporal Cloud: a million Actions cost " + strings.Join(tiers, ", ") + " in the Business plan ($500 or a tenth of the usage,\n2.5 million Actions included), $50 in the Developer plan (plus a tenth); <" + cloud + ">, in the copy of the vendor's\nrepository `temporalio/documentation` at commit 0217b71, read 2026-11-29.\n")
	return b.String()
}

func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/page.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("{sizes}\n", sizesTable(t), "{lines}\n", linesTable(t), "{measured}\n", measuredTable(), "{assumed}\n", assumedTable(),
		"{prices}\n", pricesTable()).Replace(string(text))
}

func TestThePageAboutCostIsMadeOfTheseTables(t *testing.T) {
	want := page(t)
	if *update {
		if err := os.WriteFile(pagePath, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(pagePath); err != nil || string(got) != want {
		t.Errorf("%s is out of date: %v\nwrite it anew with go test ./pkg/cost -run Page -update", pagePath, err)
	}
}

func TestTheReadmesPageQuotesTheSizes(t *testing.T) {
	text, err := os.ReadFile(readmePath)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), readmeFrom)
	got, after, closed := strings.Cut(rest, readmeTo)
	if !found || !closed {
		t.Fatalf("%s has no place for the table between %q and %q", readmePath, readmeFrom, readmeTo)
	}
	want := "\n" + sizesTable(t) + "\n"
	if *update && got != want {
		if err := os.WriteFile(readmePath, []byte(before+readmeFrom+want+readmeTo+after), 0o644); err != nil {
			t.Fatal(err)
		}
		got = want
	}
	if got != want {
		t.Errorf("the table of %s is out of date:\n%s\nwant\n%s", readmePath, got, want)
	}
}

// The page says so in words.
func TestWhereBelfryBeginsToCostLessThanStepFunctions(t *testing.T) {
	ratio := func(in Input) float64 {
		bill := compute(t, in)
		return bill.Scheduling / bill.Peers[1].USD
	}
	sizes := Sizes()
	for name, row := range map[string]struct{ got, least, most float64 }{
		"four million a month":    {ratio(asked(100_000, 4e6/monthMinutes)), 1, 1.2},
		"four and a half million": {ratio(asked(100_000, 4.5e6/monthMinutes)), 0.9, 1},
		"the company":             {ratio(sizes[1].Input), 0.23, 0.27},
		"the platform":            {ratio(sizes[2].Input), 0.18, 0.22},
	} {
		if row.got < row.least || row.got > row.most {
			t.Errorf("%s: Belfry costs %.3f of Step Functions Standard, the page says between %v and %v", name, row.got, row.least, row.most)
		}
	}
	for _, s := range sizes {
		if bill := compute(t, s.Input); bill.Peers[0].USD >= bill.Scheduling || bill.Peers[2].USD >= bill.Scheduling {
			t.Errorf("%s: EventBridge Scheduler or Step Functions Express are not cheaper, and the page says they are", s.Name)
		}
	}
}
