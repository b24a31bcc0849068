package schedule

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

// misfireKeys are the keys of a case that ask; the others tell the answer.
var misfireKeys = []string{"id", "expr", "dialect", "zone", "cursor", "down_from", "up_at", "start", "end", "dispatched", "gap", "overlap", "policy"}

// misfireCase is the answer that a case wants.
type misfireCase struct {
	ID, Via      string
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

// plannedCase is a line of ServePlans as a caller reads it.
type plannedCase struct {
	ID      string
	CatchUp []time.Time `json:"catchup"`
	Missed  struct {
		Count       int
		First, Last time.Time
	}
	OnTime []time.Time `json:"on_time_at_up"`
	Next   []time.Time `json:"next_regular"`
	Range  *struct {
		From, To time.Time
		Count    int
	}
	Error *answerError
}

// needMore are the cases that no planner can answer, and why.
var needMore = map[string]string{"mf-33": "two executions at once: what FORBID skips depends on how long the first one runs"}

func TestMisfireCasesPlanWhatTheOraclePlans(t *testing.T) {
	asked := readCases[map[string]json.RawMessage](t, "misfire.jsonl")
	for i, want := range readCases[misfireCase](t, "misfire.jsonl") {
		t.Run(want.ID, func(t *testing.T) {
			question := map[string]json.RawMessage{}
			for key, raw := range asked[i] {
				if slices.Contains(misfireKeys, key) {
					question[key] = raw
				}
			}
			line, err := json.Marshal(question)
			if err != nil {
				t.Fatal(err)
			}
			got := planOne(t, string(line))
			if why, more := needMore[want.ID]; more {
				if got.Error == nil {
					t.Errorf("answered %+v, though it needs more: %s", got, why)
				}
				return
			}
			want.check(t, got)
		})
	}
}

func planOne(t *testing.T, line string) plannedCase {
	t.Helper()
	var out bytes.Buffer
	if err := ServePlans(t.Context(), strings.NewReader(line+"\n"), &out); err != nil {
		t.Fatal(err)
	}
	var got plannedCase
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%s: %v", out.String(), err)
	}
	return got
}

func (c misfireCase) check(t *testing.T, got plannedCase) {
	t.Helper()
	if got.Error != nil || got.ID != c.ID {
		t.Fatalf("answered %+v", got)
	}
	if got.Missed.Count != c.MissedCount || !got.Missed.First.Equal(c.MissedFirst) || !got.Missed.Last.Equal(c.MissedLast) {
		t.Errorf("missed %+v, want %d from %v to %v", got.Missed, c.MissedCount, c.MissedFirst, c.MissedLast)
	}
	if len(got.CatchUp) != c.CatchUpCount {
		t.Fatalf("fires %v, want %d", got.CatchUp, c.CatchUpCount)
	}
	if n := len(got.CatchUp); n > 0 && (!got.CatchUp[0].Equal(c.CatchUpFirst) || !got.CatchUp[n-1].Equal(c.CatchUpLast)) {
		t.Errorf("fires %v, want %v to %v", got.CatchUp, c.CatchUpFirst, c.CatchUpLast)
	}
	if c.CatchUp != nil && !sameTimes(got.CatchUp, c.CatchUp) {
		t.Errorf("fires %v, want %v", got.CatchUp, c.CatchUp)
	}
	if !sameTimes(got.OnTime, c.OnTime) || !sameTimes(got.Next, c.NextRegular) {
		t.Errorf("on time %v, next %v; want %v, %v", got.OnTime, got.Next, c.OnTime, c.NextRegular)
	}
}

// The hour of * * * * *, down from 10:00 to 12:00, under each policy, window,
// cap and tolerance.
func TestPlansOfOneOutageUnderEachPolicy(t *testing.T) {
	const base = `{"id":"x","expr":"*/30 * * * *","zone":"UTC","cursor":"2024-05-01T10:00:00Z","down_from":"2024-05-01T10:00:20Z","up_at":"2024-05-01T12:00:30Z"`
	for what, c := range map[string]struct{ rest, catchup, missed, onTime string }{
		"no policy is FIRE_ONCE":                     {``, "12:00", "10:30 11:00 11:30 12:00", ""},
		"SKIP runs none":                             {`,"policy":{"misfire":"SKIP"}`, "", "10:30 11:00 11:30 12:00", ""},
		"FIRE_ONCE runs the latest":                  {`,"policy":{"misfire":"FIRE_ONCE"}`, "12:00", "10:30 11:00 11:30 12:00", ""},
		"FIRE_ALL runs each, oldest first":           {`,"policy":{"misfire":"FIRE_ALL"}`, "10:30 11:00 11:30 12:00", "10:30 11:00 11:30 12:00", ""},
		"COALESCE runs the latest":                   {`,"policy":{"misfire":"COALESCE"}`, "12:00", "10:30 11:00 11:30 12:00", ""},
		"a cap keeps the latest":                     {`,"policy":{"misfire":"FIRE_ALL","max":2}`, "11:30 12:00", "10:30 11:00 11:30 12:00", ""},
		"a cap of 0 runs none":                       {`,"policy":{"misfire":"FIRE_ALL","max":0}`, "", "10:30 11:00 11:30 12:00", ""},
		"a window keeps the young":                   {`,"policy":{"misfire":"FIRE_ALL","window_s":1830}`, "11:30 12:00", "10:30 11:00 11:30 12:00", ""},
		"a window that just misses one":              {`,"policy":{"misfire":"FIRE_ALL","window_s":1829}`, "12:00", "10:30 11:00 11:30 12:00", ""},
		"a window of 0 runs none":                    {`,"policy":{"misfire":"FIRE_ONCE","window_s":0}`, "", "10:30 11:00 11:30 12:00", ""},
		"a window that none is in":                   {`,"policy":{"misfire":"COALESCE","window_s":20}`, "", "10:30 11:00 11:30 12:00", ""},
		"window and cap together":                    {`,"policy":{"misfire":"FIRE_ALL","window_s":3630,"max":2}`, "11:30 12:00", "10:30 11:00 11:30 12:00", ""},
		"as late as the tolerance is on time":        {`,"policy":{"misfire":"FIRE_ALL","tolerance_s":30}`, "10:30 11:00 11:30", "10:30 11:00 11:30", "12:00"},
		"a second later is late":                     {`,"policy":{"misfire":"SKIP","tolerance_s":29}`, "", "10:30 11:00 11:30 12:00", ""},
		"a tolerance longer than the outage":         {`,"policy":{"misfire":"SKIP","tolerance_s":9000}`, "", "", "10:30 11:00 11:30 12:00"},
		"FIRE_ONCE past what the tolerance covers":   {`,"policy":{"misfire":"FIRE_ONCE","tolerance_s":30}`, "11:30", "10:30 11:00 11:30", "12:00"},
		"what is dispatched is not run again":        {`,"policy":{"misfire":"FIRE_ALL"},"dispatched":["2024-05-01T10:30:00Z"]`, "11:00 11:30 12:00", "10:30 11:00 11:30 12:00", ""},
		"nor when the latest is":                     {`,"policy":{"misfire":"FIRE_ONCE"},"dispatched":["2024-05-01T14:00:00+02:00"]`, "", "10:30 11:00 11:30 12:00", ""},
		"nor when it is on time":                     {`,"policy":{"misfire":"SKIP","tolerance_s":30},"dispatched":["2024-05-01T12:00:00Z"]`, "", "10:30 11:00 11:30", ""},
		"a start inside the outage is inclusive":     {`,"policy":{"misfire":"FIRE_ALL"},"start":"2024-05-01T11:00:00Z"`, "11:00 11:30 12:00", "11:00 11:30 12:00", ""},
		"an end inside the outage is inclusive":      {`,"policy":{"misfire":"FIRE_ALL"},"end":"2024-05-01T11:00:00Z"`, "10:30 11:00", "10:30 11:00", ""},
		"null is absent":                             {`,"policy":{"misfire":"FIRE_ALL","max":null,"window_s":null},"dispatched":null,"start":null`, "10:30 11:00 11:30 12:00", "10:30 11:00 11:30 12:00", ""},
		"concurrency ALLOW is what a plan thinks of": {`,"policy":{"misfire":"FIRE_ONCE","concurrency":"ALLOW"}`, "12:00", "10:30 11:00 11:30 12:00", ""},
	} {
		t.Run(what, func(t *testing.T) {
			got := planOne(t, base+c.rest+"}")
			if got.Error != nil {
				t.Fatal(got.Error)
			}
			missed := strings.Fields(c.missed)
			if clocks(got.CatchUp) != c.catchup || got.Missed.Count != len(missed) || clocks(got.OnTime) != c.onTime {
				t.Errorf("catches up %q, missed %d, on time %q", clocks(got.CatchUp), got.Missed.Count, clocks(got.OnTime))
			}
			if len(missed) > 0 && clocks([]time.Time{got.Missed.First, got.Missed.Last}) != missed[0]+" "+missed[len(missed)-1] {
				t.Errorf("missed %+v, want %v", got.Missed, missed)
			}
		})
	}
	got := planOne(t, base+`,"policy":{"misfire":"COALESCE","window_s":3630}}`)
	if got.Range == nil || clocks([]time.Time{got.Range.From, got.Range.To}) != "10:00 12:00" || got.Range.Count != 3 {
		t.Errorf("the coalesced range is %+v", got.Range)
	}
	if got = planOne(t, base+`,"policy":{"misfire":"FIRE_ONCE"}}`); got.Range != nil {
		t.Errorf("a range without COALESCE: %+v", got.Range)
	}
}

func clocks(list []time.Time) string {
	texts := make([]string, len(list))
	for i, at := range list {
		texts[i] = at.Format("15:04")
	}
	return strings.Join(texts, " ")
}

func TestPlansRefuseWhatTheyCannotAnswer(t *testing.T) {
	const base = `{"id":"x","expr":"* * * * *","zone":"UTC","cursor":"2024-05-01T10:00:00Z","up_at":"2024-05-01T12:00:30Z"`
	for line, code := range map[string]string{
		base + `,"down_from":"2024-05-01T12:00:31Z"}`:                               "INVALID",
		base + `,"down_from":"yesterday"}`:                                          "TIME_INVALID",
		base + `,"policy":{"misfire":"fire_all"}}`:                                  "POLICY_UNKNOWN",
		base + `,"policy":{"misfire":1}}`:                                           "POLICY_UNKNOWN",
		base + `,"policy":"FIRE_ALL"}`:                                              "INVALID",
		base + `,"policy":{"max":-1}}`:                                              "INVALID",
		base + `,"policy":{"window_s":1.5}}`:                                        "INVALID",
		base + `,"policy":{"tolerance":1}}`:                                         "UNKNOWN_FIELD",
		base + `,"policy":{"concurrency":"FORBID"}}`:                                "NOT_SUPPORTED",
		base + `,"dispatched":"2024-05-01T10:01:00Z"}`:                              "INVALID",
		base + `,"dispatched":["soon"]}`:                                            "TIME_INVALID",
		base + `,"after":"2024-05-01T10:01:00Z"}`:                                   "UNKNOWN_FIELD",
		base + `,"end":"2024-05-01T10:01:00Z","start":"2024-05-01T10:02:00Z"}`:      "SCHEDULE_INVALID",
		`{"id":"x","expr":"* * * * *","zone":"UTC","up_at":"2024-05-01T12:00:30Z"}`: "TIME_INVALID",
		`{"id":"x","dialect":"quartz","expr":"* * * * * ?","zone":"UTC","cursor":"2023-05-01T10:00:00Z","up_at":"2024-05-01T12:00:30Z","policy":{"misfire":"FIRE_ALL"}}`:                   "TOO_LARGE",
		`{"id":"x","dialect":"quartz","expr":"* * * * * ?","zone":"UTC","cursor":"2023-05-01T10:00:00Z","up_at":"2024-05-01T12:00:30Z","policy":{"misfire":"SKIP","tolerance_s":1000000}}`: "TOO_LARGE",
	} {
		if got := planOne(t, line); got.Error == nil || string(got.Error.Code) != code || got.ID != "x" {
			t.Errorf("%s: %+v, want %s", line, got.Error, code)
		}
	}
	capped := `{"id":"x","dialect":"quartz","expr":"* * * * * ?","zone":"UTC","cursor":"2023-05-01T10:00:00Z","up_at":"2024-05-01T12:00:30Z","policy":{"misfire":"FIRE_ALL","max":3}}`
	if got := planOne(t, capped); len(got.CatchUp) != 3 || got.Missed.Count != 366*86400+7229 {
		t.Errorf("a cap makes a long outage small: %d, %+v", len(got.CatchUp), got.Missed)
	}
}
