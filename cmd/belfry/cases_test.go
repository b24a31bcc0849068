package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// row is one line of a file of cases, key by key.
type row map[string]json.RawMessage

func (r row) id() string { return strings.Trim(string(r["id"]), `"`) }

func caseRows(t *testing.T, name string) []row {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "pkg", "schedule", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var rows []row
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	if lines.Err() != nil || len(rows) == 0 {
		t.Fatalf("%s: %d rows, %v", name, len(rows), lines.Err())
	}
	return rows
}

// reply is a line that a question got, of either kind.
type reply struct {
	ID        string
	Next      []time.Time
	Exhausted bool
	CatchUp   []time.Time `json:"catchup"`
	Missed    struct{ Count int }
	OnTime    []time.Time `json:"on_time_at_up"`
	Regular   []time.Time `json:"next_regular"`
	Error     *struct{ Code, Message string }
}

// askCases puts all questions to one run of the program.
func askCases(t *testing.T, command string, questions []row) []reply {
	t.Helper()
	var in strings.Builder
	for _, q := range questions {
		line, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	got := belfry(t, "http://127.0.0.1:1", in.String(), "schedule", command, "--jsonl")
	if got.code != 0 || got.err != "" {
		t.Fatalf("exit code %d: %s", got.code, got.err)
	}
	lines := strings.Split(strings.TrimSuffix(got.out, "\n"), "\n")
	if len(lines) != len(questions) {
		t.Fatalf("%d questions, %d answers", len(questions), len(lines))
	}
	replies := make([]reply, len(lines))
	for i, line := range lines {
		if err := json.Unmarshal([]byte(line), &replies[i]); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if replies[i].ID != questions[i].id() {
			t.Fatalf("answer %d is to %s, not %s", i, replies[i].ID, questions[i].id())
		}
	}
	return replies
}

func (r row) only(keys ...string) row {
	kept := row{}
	for _, key := range keys {
		if raw, ok := r[key]; ok {
			kept[key] = raw
		}
	}
	return kept
}

func timesOf(t *testing.T, raw json.RawMessage) []time.Time {
	t.Helper()
	var list []time.Time
	if raw != nil {
		if err := json.Unmarshal(raw, &list); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// own-191 asks from 1969, which the rules of the cases refuse.
const contradicting = "own-191"

func TestCronCasesThroughTheCommandLine(t *testing.T) {
	var questions []row
	var want [][]time.Time
	for _, r := range caseRows(t, "cron.jsonl") {
		times := timesOf(t, r["next"])
		q := r.only("id", "dialect", "expr", "zone", "after")
		q["count"] = json.RawMessage(fmt.Sprint(max(1, len(times))))
		questions, want = append(questions, q), append(want, times)
		var policies map[string][]time.Time
		if raw := r["by_policy"]; raw != nil {
			if err := json.Unmarshal(raw, &policies); err != nil {
				t.Fatal(err)
			}
		}
		for policy, times := range policies {
			gap, overlap, _ := strings.Cut(policy, "/")
			q := r.only("id", "dialect", "expr", "zone", "after")
			q["count"] = json.RawMessage(fmt.Sprint(max(1, len(times))))
			q["gap"], q["overlap"] = json.RawMessage(fmt.Sprintf("%q", gap)), json.RawMessage(fmt.Sprintf("%q", overlap))
			questions, want = append(questions, q), append(want, times)
		}
	}
	for i, got := range askCases(t, "next", questions) {
		if got.ID == contradicting {
			if got.Error == nil || got.Error.Code != "TIME_INVALID" {
				t.Errorf("%s: %+v", got.ID, got)
			}
			continue
		}
		if got.Error != nil || !slices.EqualFunc(got.Next, want[i], time.Time.Equal) || got.Exhausted != (len(want[i]) == 0) {
			t.Errorf("%v: got %+v, want %v", questions[i], got, want[i])
		}
	}
}

func TestInvalidCasesThroughTheCommandLine(t *testing.T) {
	rows := caseRows(t, "invalid.jsonl")
	var questions []row
	for _, r := range rows {
		questions = append(questions, r.only("id", "dialect", "expr", "zone", "after"))
	}
	for i, got := range askCases(t, "next", questions) {
		refused := got.Error != nil
		if refused != (string(rows[i]["expect"]) == `"REFUSE"`) {
			t.Errorf("%s (%s): %+v", got.ID, rows[i]["reason"], got)
		}
		if refused && (got.Error.Code == "INTERNAL" || len(got.Error.Message) < 10) {
			t.Errorf("%s: refused without a reason: %+v", got.ID, got.Error)
		}
	}
}

func TestMisfireCasesThroughTheCommandLine(t *testing.T) {
	rows := caseRows(t, "misfire.jsonl")
	var questions []row
	for _, r := range rows {
		questions = append(questions, r.only("id", "dialect", "expr", "zone", "cursor", "down_from", "up_at", "start", "end", "dispatched", "gap", "overlap", "policy"))
	}
	for i, got := range askCases(t, "plan", questions) {
		r := rows[i]
		// mf-33 is about two executions at once, which no plan knows.
		if got.ID == "mf-33" {
			if got.Error == nil || got.Error.Code != "NOT_SUPPORTED" {
				t.Errorf("%s: %+v", got.ID, got)
			}
			continue
		}
		if got.Error != nil || fmt.Sprint(got.Missed.Count) != string(r["missed_count"]) || fmt.Sprint(len(got.CatchUp)) != string(r["expected_catchup_count"]) {
			t.Errorf("%s: %+v", got.ID, got)
		}
		if raw, ok := r["expected_catchup"]; ok && !slices.EqualFunc(got.CatchUp, timesOf(t, raw), time.Time.Equal) {
			t.Errorf("%s: catches up %v, want %s", got.ID, got.CatchUp, raw)
		}
		if !slices.EqualFunc(got.OnTime, timesOf(t, r["on_time_at_up"]), time.Time.Equal) || !slices.EqualFunc(got.Regular, timesOf(t, r["next_regular"]), time.Time.Equal) {
			t.Errorf("%s: %+v", got.ID, got)
		}
	}
}

func TestPlansOfAnOutage(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
	}{
		{"an outage", []string{"0 6 * * *", "--zone", "Europe/Berlin", "--down-from", "2026-03-27T12:00:00Z", "--up-at", "2026-03-31T12:00:00Z", "--misfire", "FIRE_ALL", "--max", "2"}},
		{"an outage as JSON", []string{"*/30 * * * *", "--cursor", "2026-07-01T10:00:00Z", "--up-at", "2026-07-01T12:00:30Z", "--misfire", "COALESCE", "--tolerance", "60s", "--json"}},
		{"a long outage", []string{"--every", "10s", "--down-from", "2026-07-01T10:00:00Z", "--up-at", "2026-07-01T12:00:30Z", "--misfire", "FIRE_ALL", "--window", "1h"}},
		{"an outage that stands for many", []string{"--every", "10s", "--down-from", "2026-07-01T10:00:00Z", "--up-at", "2026-07-01T12:00:30Z", "--misfire", "COALESCE"}},
		{"an outage without a beginning", []string{"0 6 * * *"}},
		{"an outage that ends before it begins", []string{"0 6 * * *", "--down-from", "2026-07-02T10:00:00Z", "--up-at", "2026-07-01T12:00:30Z"}},
		{"an outage with an unknown policy", []string{"0 6 * * *", "--down-from", "2026-07-02T10:00:00Z", "--misfire", "ALL"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			golden(t, c.name, belfry(t, "http://127.0.0.1:1", "", append([]string{"schedule", "plan"}, c.args...)...))
		})
	}
}
