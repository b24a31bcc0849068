package schedule

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// readCases reads a file of testdata, one JSON object a line.
func readCases[T any](t testing.TB, name string) []T {
	t.Helper()
	file, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var list []T
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c T
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		list = append(list, c)
	}
	if err := lines.Err(); err != nil || len(list) == 0 {
		t.Fatalf("%s: %d cases, error %v", name, len(list), err)
	}
	return list
}

type cronCase struct {
	ID, Expr, Zone, After, Note string
	Dialect                     job.Dialect
	Next                        []time.Time
	Exhausted                   bool
	ByPolicy                    map[string][]time.Time `json:"by_policy"`
}

// contradictory rows ask what the rules beside them refuse: own-191 asks from
// 1969, and questions are about 1970-2099.
var contradictory = map[string]job.Code{"own-191": job.CodeTimeInvalid}

func TestCronCasesFireAtTheTimesOfTheOracle(t *testing.T) {
	for _, c := range readCases[cronCase](t, "cron.jsonl") {
		t.Run(c.ID, func(t *testing.T) {
			if code, refused := contradictory[c.ID]; refused {
				if got := c.ask(t, "", "", 1); got.Error == nil || got.Error.Code != code {
					t.Fatalf("want %s, got %+v", code, got)
				}
				return
			}
			checkCron(t, c, "", "", c.Next)
			for policies, want := range c.ByPolicy {
				gap, overlap, _ := strings.Cut(policies, "/")
				checkCron(t, c, job.GapPolicy(gap), job.OverlapPolicy(overlap), want)
			}
		})
	}
}

func checkCron(t *testing.T, c cronCase, gap job.GapPolicy, overlap job.OverlapPolicy, want []time.Time) {
	t.Helper()
	plan, err := Compile(job.Schedule{Cron: c.Expr, Zone: c.Zone, Dialect: c.Dialect, Gap: gap, Overlap: overlap}, time.Time{})
	if err != nil {
		t.Fatalf("%q in %s: %v", c.Expr, c.Zone, err)
	}
	at, err := ParseTime("after", c.After)
	if err != nil {
		t.Fatal(err)
	}
	for i, wanted := range want {
		next, ok := plan.Next(at)
		if !ok || !next.Equal(wanted) {
			t.Fatalf("%q in %s, %s/%s (%s): time %d after %s is %v %v, want %v", c.Expr, c.Zone, gap, overlap, c.Note, i, at, next, ok, wanted)
		}
		at = next
	}
	if got := c.ask(t, gap, overlap, max(1, len(want))); got.Error != nil || !sameTimes(instants(t, got.Next), want) {
		t.Fatalf("%q in %s, %s/%s over JSONL: %+v, want %v", c.Expr, c.Zone, gap, overlap, got, want)
	}
	if c.Exhausted {
		if got := c.ask(t, gap, overlap, len(want)+1); got.Exhausted == nil || !*got.Exhausted {
			t.Fatalf("%q in %s: not exhausted: %+v", c.Expr, c.Zone, got)
		}
		if next, ok := plan.Next(at); ok {
			t.Fatalf("%q in %s: want no time after %s, got %s", c.Expr, c.Zone, at, next)
		}
	}
}

// ask puts the case as a line to ServeNext.
func (c cronCase) ask(t *testing.T, gap job.GapPolicy, overlap job.OverlapPolicy, count int) answer {
	t.Helper()
	line, err := json.Marshal(map[string]any{"id": c.ID, "dialect": c.Dialect, "expr": c.Expr, "zone": c.Zone, "after": c.After, "count": count, "gap": gap, "overlap": overlap})
	if err != nil {
		t.Fatal(err)
	}
	return askOne(t, string(line))
}

func instants(t *testing.T, texts []string) []time.Time {
	t.Helper()
	list := make([]time.Time, len(texts))
	for i, text := range texts {
		list[i] = instantOf(t, text)
	}
	return list
}

// answer is a line of ServeNext as a caller reads it.
type answer struct {
	ID        json.RawMessage
	Next      []string
	Exhausted *bool
	Error     *answerError
}

type invalidCase struct {
	ID, Expr, Zone, After, Reason, Expect string
	Dialect                               job.Dialect
}

func TestInvalidCasesAreRefusedOverJSONL(t *testing.T) {
	for _, c := range readCases[invalidCase](t, "invalid.jsonl") {
		t.Run(c.ID, func(t *testing.T) {
			line, err := json.Marshal(map[string]any{"id": c.ID, "dialect": c.Dialect, "expr": c.Expr, "zone": c.Zone, "after": c.After, "count": 1})
			if err != nil {
				t.Fatal(err)
			}
			got := askOne(t, string(line))
			refused := got.Error != nil
			if refused != (c.Expect == "REFUSE") {
				t.Fatalf("%q in %q after %q (%s): answered %+v", c.Expr, c.Zone, c.After, c.Reason, got)
			}
			if refused && (got.Error.Code == job.CodeInternal || got.Error.Message == "") {
				t.Fatalf("refused without a reason: %+v", got.Error)
			}
		})
	}
}

// askOne serves one line and reads the one answer.
func askOne(t testing.TB, line string) answer {
	t.Helper()
	var out bytes.Buffer
	if err := ServeNext(t.Context(), strings.NewReader(line+"\n"), &out); err != nil {
		t.Fatal(err)
	}
	var got answer
	decoder := json.NewDecoder(&out)
	if err := decoder.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if decoder.More() {
		t.Fatalf("more than one answer to %q", line)
	}
	return got
}

func sameTimes(a, b []time.Time) bool { return slices.EqualFunc(a, b, time.Time.Equal) }
