package schedule

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
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

func TestCronCasesFireAtTheTimesOfTheOracle(t *testing.T) {
	for _, c := range readCases[cronCase](t, "cron.jsonl") {
		t.Run(c.ID, func(t *testing.T) {
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
	if c.Exhausted {
		if next, ok := plan.Next(at); ok {
			t.Fatalf("%q in %s: want no time after %s, got %s", c.Expr, c.Zone, at, next)
		}
	}
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

type misfireCase struct {
	ID, Title, Expr, Zone string
	Dialect               job.Dialect
	Cursor                time.Time
	UpAt                  time.Time `json:"up_at"`
	Start, End            time.Time
	Dispatched            []time.Time
	Gap                   job.GapPolicy
	Overlap               job.OverlapPolicy
	Policy                struct {
		Misfire    job.MisfirePolicy
		WindowS    int `json:"window_s"`
		Max        int
		ToleranceS int `json:"tolerance_s"`
	}
	MissedCount  int         `json:"missed_count"`
	MissedFirst  time.Time   `json:"missed_first"`
	MissedLast   time.Time   `json:"missed_last"`
	CatchUpCount int         `json:"expected_catchup_count"`
	CatchUpFirst time.Time   `json:"expected_catchup_first"`
	CatchUpLast  time.Time   `json:"expected_catchup_last"`
	CatchUp      []time.Time `json:"expected_catchup"`
	OnTime       []time.Time `json:"on_time_at_up"`
	NextRegular  []time.Time `json:"next_regular"`
}

func TestMisfireCasesPlanWhatTheOraclePlans(t *testing.T) {
	for _, c := range readCases[misfireCase](t, "misfire.jsonl") {
		t.Run(c.ID, func(t *testing.T) {
			plan, err := Compile(job.Schedule{Cron: c.Expr, Zone: c.Zone, Dialect: c.Dialect, Gap: c.Gap, Overlap: c.Overlap, Start: c.Start, End: c.End}, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			late := PlanLate(plan, c.Cursor, c.UpAt, job.Misfire{
				Policy:    c.Policy.Misfire,
				Window:    job.Duration(c.Policy.WindowS) * job.Duration(time.Second),
				Max:       c.Policy.Max,
				Tolerance: job.Duration(c.Policy.ToleranceS) * job.Duration(time.Second),
			})
			c.check(t, late)
		})
	}
}

func (c misfireCase) check(t *testing.T, late Late) {
	t.Helper()
	if late.Missed.Count != c.MissedCount || !late.Missed.First.Equal(c.MissedFirst) || !late.Missed.Last.Equal(c.MissedLast) {
		t.Errorf("missed %+v, want %d from %v to %v", late.Missed, c.MissedCount, c.MissedFirst, c.MissedLast)
	}
	fire := without(late.Fire, c.Dispatched)
	if len(fire) != c.CatchUpCount {
		t.Fatalf("fires %v, want %d", fire, c.CatchUpCount)
	}
	if len(fire) > 0 && (!fire[0].Equal(c.CatchUpFirst) || !fire[len(fire)-1].Equal(c.CatchUpLast)) {
		t.Errorf("fires %v, want %v to %v", fire, c.CatchUpFirst, c.CatchUpLast)
	}
	if c.CatchUp != nil && !sameTimes(fire, c.CatchUp) {
		t.Errorf("fires %v, want %v", fire, c.CatchUp)
	}
	if !sameTimes(late.OnTime, c.OnTime) {
		t.Errorf("on time %v, want %v", late.OnTime, c.OnTime)
	}
	if late.HasNext != (len(c.NextRegular) > 0) || late.HasNext && !late.Next.Equal(c.NextRegular[0]) {
		t.Errorf("next %v %v, want %v", late.Next, late.HasNext, c.NextRegular)
	}
}

func without(list, gone []time.Time) []time.Time {
	var kept []time.Time
	for _, at := range list {
		keep := true
		for _, g := range gone {
			keep = keep && !at.Equal(g)
		}
		if keep {
			kept = append(kept, at)
		}
	}
	return kept
}

func sameTimes(a, b []time.Time) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Equal(b[i]) {
			return false
		}
	}
	return true
}
