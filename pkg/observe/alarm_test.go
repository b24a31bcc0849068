package observe_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/observe"
)

func TestAlarmsCanRing(t *testing.T) {
	all := observe.Alarms(site())
	named := map[string]observe.Alarm{}
	for _, a := range all {
		if _, twice := named[a.Name]; twice || a.Name == "" || a.Says == "" {
			t.Errorf("alarm %+v has no name of its own, or says nothing", a)
		}
		named[a.Name] = a
	}
	parts := map[string]bool{}
	for _, a := range all {
		for _, part := range a.All {
			parts[part] = true
			if !named[part].Part {
				t.Errorf("%s waits for %s, which is no part", a.Name, part)
			}
		}
		if len(a.All) > 0 {
			continue
		}
		if (a.AtLeast > 0) == (a.Below > 0) || a.For < 1 || a.Of != 0 && a.Of < a.For {
			t.Errorf("%s has no threshold, or cannot reach its number of points: %+v", a.Name, a)
		}
		if window := a.Period.Hours() * float64(max(a.For, a.Of)); a.Period%time.Minute != 0 || a.Period <= 0 || window > 24 && a.Period < time.Hour {
			t.Errorf("%s measures by %v, over %v hours, which CloudWatch does not take", a.Name, a.Period, window)
		}
	}
	for name, a := range named {
		if a.Part != parts[name] {
			t.Errorf("%s tells nobody: no other alarm is made of it", name)
		}
	}
}

func TestSilenceOfTheTickIsAnAlarmUnlessItIsOff(t *testing.T) {
	has := func(s observe.Site) bool {
		return slices.ContainsFunc(observe.Alarms(s), func(a observe.Alarm) bool { return a.Name == "tick-missing" })
	}
	off := site()
	off.TickOff = true
	if !has(site()) || has(off) {
		t.Errorf("the alarm about the tick is there: %v, with the tick off: %v", has(site()), has(off))
	}
}

// PB-180: what feeds the scans may be gone, while the tick says that all is well.
func TestScansThatNobodyTakesAreAnAlarm(t *testing.T) {
	for _, a := range observe.Alarms(site()) {
		if a.Name != "scans-lost" {
			continue
		}
		sent, completed := a.Series[0].Metric, a.Series[1].Metric
		if sent.From != "tick" || completed.From != "scan" {
			t.Errorf("it compares what %s and %s tell; both would be silent together", sent.From, completed.From)
		}
		if last := a.Series[len(a.Series)-1].Expression; !strings.Contains(last, "FILL(completed, 0)") {
			t.Errorf("no scan at all leaves %q without a value", last)
		}
		return
	}
	t.Error("there is no such alarm")
}

const runbooks = "../../docs/runbooks"

var asked = []string{"## What it means", "## Look", "## Do", "## Do not"}

func TestEveryAlarmHasARunbookAndEveryRunbookAnAlarm(t *testing.T) {
	wanted := map[string]bool{}
	for _, a := range observe.Alarms(site()) {
		wanted[a.Runbook] = true
		if !strings.Contains(a.Description(), observe.RunbookURL(a.Runbook)) || len(a.Description()) > 1024 {
			t.Errorf("the description of %s does not lead to its runbook, or is too long: %s", a.Name, a.Description())
		}
	}
	for _, a := range observe.PartAlarms {
		wanted[a.Runbook] = true
	}
	pages, err := filepath.Glob(runbooks + "/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	for _, path := range pages {
		page := strings.TrimSuffix(filepath.Base(path), ".md")
		if page == "README" {
			continue
		}
		if !wanted[page] {
			t.Errorf("no alarm leads to %s", path)
		}
		delete(wanted, page)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		last := -1
		for _, heading := range asked {
			at := strings.Index(string(text), "\n"+heading+"\n")
			if at <= last {
				t.Errorf("%s does not have %q in its place", path, heading)
			}
			last = at
		}
	}
	for page := range wanted {
		t.Errorf("an alarm leads to the runbook %s, which is not there", page)
	}
}

var command = regexp.MustCompile("(?m)^ *belfry ([a-z]+)(?: ([a-z]+))?")

// TestRunbooksNameCommandsThatExist reads the words that the command line knows
// from its source: nobody should learn at three in the morning that a command
// has gone.
func TestRunbooksNameCommandsThatExist(t *testing.T) {
	sources, err := filepath.Glob("../../cmd/belfry/*.go")
	if err != nil || len(sources) == 0 {
		t.Fatal(sources, err)
	}
	known := map[string]bool{}
	for _, path := range sources {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, use := range regexp.MustCompile(`(?:Use:\s+|jobsState\()"([a-z]+)`).FindAllStringSubmatch(string(text), -1) {
			known[use[1]] = true
		}
	}
	pages, _ := filepath.Glob(runbooks + "/*.md")
	found := 0
	for _, path := range pages {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range command.FindAllStringSubmatch(string(text), -1) {
			found++
			group := m[1] == "jobs" || m[1] == "executions" || m[1] == "schedule"
			if !known[m[1]] || group && !known[m[2]] {
				t.Errorf("%s names `belfry %s %s`, which the command line does not have", path, m[1], m[2])
			}
		}
	}
	if found < len(pages) {
		t.Errorf("%d pages name %d commands: the pattern has gone blind", len(pages), found)
	}
}
