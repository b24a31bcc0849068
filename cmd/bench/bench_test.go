package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func TestEveryBudgetThatIsCountedHolds(t *testing.T) {
	var out, told bytes.Buffer
	if code := run(t.Context(), []string{"budget"}, &out, &told); code != exitKept {
		t.Errorf("exit code %d:\n%s", code, told.String())
	}
	decoder := json.NewDecoder(&out)
	var document map[string]any
	if err := decoder.Decode(&document); err != nil {
		t.Fatal(err)
	}
	if err := decoder.Decode(new(any)); err != io.EOF {
		t.Errorf("standard output has more than one document: %v", err)
	}
	if document["recurring_wru"] != 6.0 {
		t.Errorf("recurring_wru is %v, want 6", document["recurring_wru"])
	}
	if units, isNumber := document["record_wru"].(float64); !isNumber || units <= 0 || units > 0.1 {
		t.Errorf("record_wru is %v, want something up to 0.1", document["record_wru"])
	}
	for _, row := range rowsOf("budget") {
		if _, there := document[row.name]; !there {
			t.Errorf("the document lacks %s", row.name)
		}
	}
}

func TestABrokenBudgetIsNamed(t *testing.T) {
	r := newReport("idle")
	r.note("idle_calls", 521, nil)
	r.note("idle_calls_more", 1, parts{"Query": 1})
	if got := r.broken(); !slices.Equal(got, []string{"idle_calls_more", "idle_rru_more"}) {
		t.Errorf("broken are %v, want the figure that is off and the one that is missing", got)
	}
	var told bytes.Buffer
	r.table(&told)
	if !strings.Contains(told.String(), "budget broken: idle_calls_more must be = 0 calls") {
		t.Errorf("the table does not name it:\n%s", told.String())
	}
	document, err := r.document()
	if err != nil || !strings.Contains(string(document), `"idle_calls_more"`) {
		t.Errorf("the document is %s, %v", document, err)
	}
}

func TestACommandLineThatNamesNoBenchIsRefused(t *testing.T) {
	for _, args := range [][]string{{"speed"}, {"idle", "burst"}, {"-nosuchflag"}} {
		var out, told bytes.Buffer
		if code := run(t.Context(), args, &out, &told); code != exitUsage || out.Len() > 0 || !strings.Contains(told.String(), "usage: bench") {
			t.Errorf("%v: exit code %d, output %q, told %q", args, code, out.String(), told.String())
		}
	}
	if named := slices.Sorted(maps.Keys(measurements)); !slices.Equal(named, slices.Sorted(slices.Values(benches))) {
		t.Errorf("measurements are %v, benches %v", named, benches)
	}
}

func TestATickDoesNotSeeJobsThatAreNotDue(t *testing.T) {
	r := newReport("idle")
	if err := compareIdle(t.Context(), r, io.Discard, 10, 400); err != nil {
		t.Fatal(err)
	}
	if broken := r.broken(); len(broken) > 0 {
		t.Errorf("broken are %v: %v", broken, r.figures)
	}
	if r.figures["idle_calls"] < 2*256 {
		t.Errorf("%v calls cannot have scanned 256 shards twice", r.figures["idle_calls"])
	}
}

func TestABurstStartsEachOneOffOnceAndNeverEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := burst(t.Context(), 50, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		once := map[start]int{}
		for _, s := range b.starts {
			once[start{job: s.job}]++
			if s.lag() < 0 || s.lag() > time.Second {
				t.Errorf("%s started %v after its second", s.job, s.lag())
			}
		}
		if ran := ranOnce(once); ran != 50 {
			t.Errorf("%d of 50 one-offs ran once: %v", ran, once)
		}
	})
}

func TestATapePlaysEveryCallThatAMillMakes(t *testing.T) {
	m, err := newMill(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	if err := m.fill(t.Context(), 30); err != nil {
		t.Fatal(err)
	}
	m.tape.rewind()
	if _, err := m.grind(t.Context(), 30); err != nil {
		t.Fatal(err)
	}
	made := m.calls.take(tables).sum() + m.calls.take(queues).sum()
	if recorded := float64(m.tape.length()); recorded != made || made < 30*5 {
		t.Errorf("%v calls were made and %v recorded, want as many and at least five an execution", made, recorded)
	}
	if n, err := m.tape.replay(t.Context()); err != nil || float64(n) < made-20 {
		t.Errorf("%d of %v calls were made again: %v", n, made, err)
	}
}

func TestTheSetClockMovesOnlyWhenItIsSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newSetClock(begin)
		passed := make(chan error, 1)
		go func() { passed <- c.Wait(t.Context(), begin.Add(time.Minute)) }()
		time.Sleep(time.Hour)
		c.set(begin.Add(30 * time.Second))
		c.set(begin)
		synctest.Wait()
		if len(passed) > 0 || !c.Now().Equal(begin.Add(30*time.Second)) {
			t.Errorf("at %v %d waits have passed, want none at 00:00:30", c.Now(), len(passed))
		}
		c.set(begin.Add(time.Minute))
		if err := <-passed; err != nil {
			t.Error(err)
		}
		began := time.Now()
		if err := c.Wait(t.Context(), c.Now().Add(20*time.Millisecond)); err != nil || time.Since(began) != 20*time.Millisecond {
			t.Errorf("a short wait took %v and gave %v, want 20ms of real time", time.Since(began), err)
		}
	})
}

func TestQuantile(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	for _, c := range []struct {
		of   []time.Duration
		part float64
		want time.Duration
	}{{nil, 0.5, 0}, {hundred[:1], 0.5, 1}, {hundred[:1], 1, 1}, {hundred, 0.5, 50}, {hundred, 0.99, 99}, {hundred, 1, 100}, {hundred[:3], 0.5, 2}} {
		if got := quantile(c.of, c.part); got != c.want {
			t.Errorf("quantile %v of %d is %v, want %v", c.part, len(c.of), got, c.want)
		}
	}
}

func TestTheWindowHasAMinutesBeginningInItsMiddle(t *testing.T) {
	for ready, want := range map[string]string{"12:00:00": "12:00:50", "12:00:50": "12:00:50", "12:00:51": "12:01:50"} {
		at, err := time.Parse(time.TimeOnly, ready)
		if err != nil {
			t.Fatal(err)
		}
		if got := windowAround(at).Format(time.TimeOnly); got != want {
			t.Errorf("ready at %s the window begins at %s, want %s", ready, got, want)
		}
	}
}

func TestSizeFollowsTheServicesRule(t *testing.T) {
	item := map[string]types.AttributeValue{
		"pk":   &types.AttributeValueMemberS{Value: "tenant/job"},                                                                       // 2 + 10
		"n":    &types.AttributeValueMemberN{Value: "12345"},                                                                            // 1 + 4
		"list": &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberS{Value: "abc"}}},                 // 4 + 3 + 1 + 3
		"map":  &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"k": &types.AttributeValueMemberBOOL{Value: true}}}, // 3 + 3 + 1 + 2
	}
	if got := size(item); got != 12+5+11+9 {
		t.Errorf("the item weighs %d, want %d", got, 12+5+11+9)
	}
}

const page = "../../docs/benchmarks.md"

func TestThePageHasEveryRowAsItIsMeasured(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{} // what stands before the last figure, by name
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		name := strings.Trim(cells[1], " `")
		shown[name] = strings.TrimSpace(cells[2]) + " | " + strings.TrimSpace(cells[3])
		if last := strings.TrimSpace(cells[4]); last == "" {
			t.Errorf("%s has no last figure", name)
		}
	}
	for _, row := range rows {
		want := row.what + " | " + row.budget.of(row.unit)
		if shown[row.name] != want {
			t.Errorf("the page says of %s\n  %s\nwant\n  %s", row.name, shown[row.name], want)
		}
		delete(shown, row.name)
	}
	for name := range shown {
		t.Errorf("the page shows %s, which no bench measures", name)
	}
}
