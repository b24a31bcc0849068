package jobfile

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

const every = "schedule: {every: 10s}\ntarget: {log: {}}\n"

// today is when the files are read.
var today = time.Date(2026, 7, 12, 12, 0, 0, 0, time.UTC)

func TestAWholeJobIsReadAsWritten(t *testing.T) {
	contents, err := Parse("jobs.yaml", []byte(`# comment
job: nightly
schedule:
  cron: "30 3 * * *"
  dialect: unix
  zone: Europe/Berlin
  gap: SHIFT_FORWARD
  overlap: FIRST
  start: 2026-01-01T00:00:00Z
  end: 2027-01-01T01:00:00+01:00
target:
  webhook:
    url: https://example.com/hook
    headers: {X-Team: "7"}
pool: external-api
type: report
priority: normal
payload:
  b: 1.10
  a: [1, -2, true, null, "x", 1e3, '1e3']
  text: |
    two
    lines
timeout: 1m30s
retry: {max_attempts: 3, base: 2s, max: 1m, max_age: 1d12h, max_lost: 2}
concurrency: ALLOW
misfire: {policy: FIRE_ONCE, window: 2d, max: 10, tolerance: 5s}
labels: {team: data}
description: every night
paused: true
`), today)
	if err != nil {
		t.Fatal(err)
	}
	entries := contents.Jobs
	want := job.Definition{
		Job: "nightly",
		Schedule: job.Schedule{Cron: "30 3 * * *", Dialect: "unix", Zone: "Europe/Berlin", Gap: "SHIFT_FORWARD", Overlap: "FIRST",
			Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), End: time.Date(2027, 1, 1, 1, 0, 0, 0, time.FixedZone("", 3600))},
		Target: job.Target{Webhook: &job.Webhook{URL: "https://example.com/hook", Headers: map[string]string{"X-Team": "7"}}},
		Pool:   "external-api", Type: "report", Priority: "normal",
		Payload: json.RawMessage(`{"b":1.10,"a":[1,-2,true,null,"x",1e3,"1e3"],"text":"two\nlines\n"}`), Timeout: job.Duration(90 * time.Second),
		Retry:       job.Retry{MaxAttempts: 3, Base: job.Duration(2 * time.Second), Max: job.Duration(time.Minute), MaxAge: job.Duration(36 * time.Hour), MaxLost: 2},
		Concurrency: "ALLOW", Misfire: &job.Misfire{Policy: "FIRE_ONCE", Window: job.Duration(48 * time.Hour), Max: 10, Tolerance: job.Duration(5 * time.Second)},
		Labels: map[string]string{"team": "data"}, Description: "every night", Paused: true,
	}
	got, _ := json.Marshal(entries[0].Definition)
	expected, _ := json.Marshal(want)
	if len(entries) != 1 || string(got) != string(expected) {
		t.Errorf("\n got %s\nwant %s", got, expected)
	}
	if entries[0].Line != 2 || entries[0].LineOf("schedule.zone") != 6 || entries[0].LineOf("minute") != 4 || entries[0].LineOf("zone") != 6 ||
		entries[0].LineOf("target.webhook.headers.X-Team") != 14 || entries[0].LineOf("retry.max") != 25 || entries[0].LineOf("nothing") != 2 {
		t.Errorf("lines: %d %v", entries[0].Line, entries[0].lines)
	}
}

func TestJobsStandInDocumentsAndInLists(t *testing.T) {
	rows := map[string]struct {
		file string
		want string
	}{
		"one job":                          {"job: a\n" + every, "a"},
		"several documents":                {"job: a\n" + every + "---\njob: b\n" + every, "a b"},
		"a list":                           {"- job: a\n  schedule: {every: 1s}\n  target: {log: }\n- {job: b, schedule: {every: 1s}, target: {log: {message: x}}}\n", "a b"},
		"a list and a document":            {"- {job: a, schedule: {every: 1s}, target: {log: {}}}\n---\njob: b\n" + every, "a b"},
		"JSON":                             {`{"job":"a","schedule":{"every":"1s"},"target":{"log":{}}}`, "a"},
		"nothing":                          {"", ""},
		"comments alone":                   {"# nothing yet\n", ""},
		"documents that end":               {"job: a\n" + every + "...\n---\njob: b\n" + every + "...\n", "a b"},
		"empty documents between":          {"---\n---\njob: a\n" + every + "---\n# none\n---\njob: b\n" + every + "---\n", "a b"},
		"a byte order mark in front":       {"\ufeffjob: a\n" + every, "a"},
		"JSON of many keys on one line":    {oneLine(300), "a"},
		"an alias for a value":             {"- {job: a, schedule: &s {every: 1s}, target: {log: {}}}\n- {job: b, schedule: *s, target: {log: {}}}\n", "a b"},
		"keys merged, own ones first":      {"- &a\n  job: a\n  schedule: {every: 1s}\n  target: {log: {}}\n- <<: *a\n  job: b\n", "a b"},
		"zeros that mean none":             {"job: a\nschedule: {every: 1s, jitter: 0s}\ntarget: {log: {}}\nsuspend_after: 0\nlimits: []\n", "a"},
		"null where a value may be absent": {"job: a\n" + every + "labels:\npayload:\ndescription:\nretry: {base: }\n", "a"},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			contents, err := Parse("jobs.yaml", []byte(row.file), today)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, e := range contents.Jobs {
				names = append(names, e.Definition.Job)
			}
			if got := strings.Join(names, " "); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

// oneLine is a job as a program prints it: JSON without line breaks, with a
// payload of n keys.
func oneLine(n int) string {
	pairs := make([]string, n)
	for i := range pairs {
		pairs[i] = `"k` + itoa(i) + `":{"v":[` + itoa(i) + `]}`
	}
	return `[{"job":"a","schedule":{"every":"1s"},"target":{"log":{}},"payload":{` + strings.Join(pairs, ",") + `}}]`
}

func TestNumbersOfAPayloadKeepTheirDigits(t *testing.T) {
	const payload = `[12345678901234567890123,-98765432109876543210,9007199254740993,0.10,1e3,"12345678901234567890123"]`
	contents, err := Parse("jobs.yaml", []byte("job: a\n"+every+"payload: "+payload+"\n"), today)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(contents.Jobs[0].Definition.Payload); got != payload {
		t.Errorf("\n got %s\nwant %s", got, payload)
	}
}

func TestAMisfireMayBeItsPolicyAlone(t *testing.T) {
	contents, err := Parse("jobs.yaml", []byte("job: a\nmisfire: SKIP\n"+every), today)
	if err != nil || contents.Jobs[0].Definition.Misfire == nil || contents.Jobs[0].Definition.Misfire.Policy != job.MisfireSkip {
		t.Errorf("%v %+v", err, contents)
	}
}

// faulty are files that are refused, each with where.
var faulty = []struct {
	name string
	file string
	want []string // "line code field", in order
}{
	{"for a key that is not known", "job: a\n" + every + "timeuot: 3s\n", []string{"4 UNKNOWN_FIELD timeuot"}},
	{"for a key that is not known further down", "job: a\nschedule:\n  every: 10s\n  zome: UTC\ntarget: {log: {}}\n", []string{"4 UNKNOWN_FIELD schedule.zome"}},
	{"for a key given twice", "job: a\n" + every + "job: b\n", []string{"4 INVALID job"}},
	{"for a key given twice in the payload", "job: a\n" + every + "payload:\n  x: 1\n  x: 2\n", []string{"6 INVALID x"}},
	{"for a duration without unit", "job: a\n" + every + "timeout: 90\n", []string{"4 INVALID timeout"}},
	{"for a time without offset", "job: a\nschedule:\n  every: 10s\n  start: 2026-07-12T03:30:00\ntarget: {log: {}}\n", []string{"4 TIME_INVALID schedule.start"}},
	{"for a number where text is expected", "job: 7\n" + every, []string{"1 INVALID job"}},
	{"for text where a number is expected", "job: a\n" + every + "retry: {max_attempts: many}\n", []string{"4 INVALID retry.max_attempts"}},
	{"for text where true or false is expected", "job: a\n" + every + "paused: yes\n", []string{"4 INVALID paused"}},
	{"for a list where keys are expected", "job: a\nschedule: [10s]\ntarget: {log: {}}\n", []string{"2 INVALID schedule"}},
	{"for a bare word as file", "hello\n", []string{"1 INVALID job"}},
	{"for everything at once", "job: a\nschedul: {every: 10s}\ntarget: {log: {}}\ntimeout: soon\n---\njob: b\n" + every + "pool: 3\n",
		[]string{"2 UNKNOWN_FIELD schedul", "4 INVALID timeout", "9 INVALID pool"}},
	{"for a rule of the definition", "job: a\n" + every + "timeout: 13h\n", []string{"4 INVALID timeout"}},
	{"for a name that is no name", "job: A b\n" + every, []string{"1 INVALID job"}},
	{"for a job without name", every, []string{"1 INVALID job"}},
	{"for a cron expression", "job: a\nschedule:\n  zone: UTC\n  cron: 61 * * * *\ntarget: {log: {}}\n", []string{"4 SCHEDULE_INVALID minute"}},
	{"for a zone", "job: a\nschedule:\n  cron: 1 * * * *\n  zone: Europe/Atlantis\ntarget: {log: {}}\n", []string{"4 ZONE_UNKNOWN zone"}},
	{"for a rule and a schedule together", "job: a\nschedule:\n  cron: 61 * * * *\ntarget: {}\n", []string{"4 INVALID target", "3 SCHEDULE_INVALID minute"}},
	{"for two kinds of schedule", "job: a\nschedule: {every: 10s, cron: \"* * * * *\"}\ntarget: {log: {}}\n", []string{"2 SCHEDULE_INVALID schedule"}},
	{"for a feature that is not built", "job: a\n" + every + "priority: low\n", []string{"4 NOT_SUPPORTED priority"}},
	{"for a limit in whatever form", "job: a\n" + every + "limits: {per_minute: 5}\n", []string{"4 NOT_SUPPORTED limits"}},
	{"for a limit as text", "job: a\n" + every + "limits: acme\n", []string{"4 NOT_SUPPORTED limits"}},
	{"for a suspension in another form", "job: a\n" + every + "suspend_after: {failures: 3}\n", []string{"4 INVALID suspend_after"}},
	{"for a concurrency by number", "job: a\n" + every + "concurrency: 2\n", []string{"4 NOT_SUPPORTED concurrency"}},
	{"for a concurrency by keys", "job: a\n" + every + "concurrency: {max: 2}\n", []string{"4 NOT_SUPPORTED concurrency"}},
	{"for zeros that would mean the default", "job: a\n" + every + "timeout: 0s\nretry: {max_attempts: 0, base: 0s, max: 0, max_age: 0s, max_lost: 0}\nmisfire: {max: 0, tolerance: 0s}\n",
		[]string{"4 INVALID timeout", "5 INVALID retry.max_attempts", "5 INVALID retry.base", "5 INVALID retry.max", "5 INVALID retry.max_age", "5 INVALID retry.max_lost",
			"6 INVALID misfire.max", "6 INVALID misfire.tolerance"}},
	{"for an interval of nothing", "job: a\nschedule: {every: 0s}\ntarget: {log: {}}\n", []string{"2 INVALID schedule.every"}},
	{"for too wide a jitter, once", "job: a\nschedule:\n  every: 10s\n  jitter: 11m\ntarget: {log: {}}\n", []string{"4 SCHEDULE_INVALID jitter"}},
	{"for a cron expression without quotes", "job: a\nschedule:\n  cron: */5 * * * *\n", []string{"3 INVALID file"}},
	{"for broken YAML", "job: a\nschedule: {every: 10s\ntarget: x\n", []string{"3 INVALID file"}},
	{"for an alias to nothing", "job: a\n" + every + "pool: *p\n", []string{"4 INVALID file"}},
	{"for a value that contains itself", "job: a\n" + every + "payload: &x [*x]\n", []string{"4 INVALID file"}},
	{"for a tag", "job: a\n" + every + "pool: !!str x\n", []string{"4 INVALID file"}},
	{"for a payload that is too large", "job: a\n" + every + "payload: " + strings.Repeat("x", 33<<10) + "\n", []string{"4 TOO_LARGE payload"}},
	{"for bytes that are not UTF-8", "job: a\n" + every + "description: \"caf\xe9\"\n", []string{"4 INVALID file"}},
	{"for a zero byte", "job: a\n" + every + "description: \"a\x00b\"\n", []string{"4 INVALID file"}},
	{"for UTF-16", "\xff\xfej\x00o\x00b\x00", []string{"1 INVALID file"}},
	{"for a number that JSON has not", "job: a\n" + every + "payload: {x: .inf}\n", []string{"4 INVALID payload"}},
}

func TestAFileIsRefusedWithTheLine(t *testing.T) {
	for _, row := range faulty {
		t.Run(row.name, func(t *testing.T) {
			contents, err := Parse("jobs.yaml", []byte(row.file), today)
			var faults Faults
			if !errors.As(err, &faults) || len(contents.Jobs)+len(contents.Calendars) > 0 {
				t.Fatalf("got %v, %v", contents, err)
			}
			var got []string
			for _, f := range faults {
				got = append(got, strings.TrimSpace(strings.Join([]string{itoa(f.Err.Line), string(f.Err.Code), f.Err.Field}, " ")))
				if f.Err.Message == "" || f.Err.Fix+f.Err.Bound == "" || !strings.HasPrefix(f.Error(), "jobs.yaml:"+itoa(f.Err.Line)+": ") {
					t.Errorf("the refusal explains too little: %q %+v", f.Error(), f.Err)
				}
			}
			if strings.Join(got, "\n") != strings.Join(row.want, "\n") {
				t.Errorf("got %q, want %q\n%v", got, row.want, err)
			}
		})
	}
}

func itoa(n int) string {
	text, _ := json.Marshal(n)
	return string(text)
}

func TestAMisspelledKeyIsToldTheNearOne(t *testing.T) {
	_, err := Parse("jobs.yaml", []byte("job: a\nschedul: {every: 10s}\ntarget: {log: {}}\n"), today)
	if err == nil || !strings.Contains(err.Error(), "did you mean schedule?") {
		t.Error(err)
	}
	for _, far := range []string{"foo", "bb", "x"} {
		_, err = Parse("jobs.yaml", []byte("job: a\n"+every+far+": 1\n"), today)
		if err == nil || strings.Contains(err.Error(), "did you mean") {
			t.Errorf("%s: %v", far, err)
		}
	}
	_, err = Parse("jobs.yaml", []byte("job: a\nschedule:\n  cron: */5 * * * *\n"), today)
	if err == nil || !strings.Contains(err.Error(), "in quotes") {
		t.Error(err)
	}
}

func TestWhatIsMissingIsNotSaidToBeTooMuch(t *testing.T) {
	for file, want := range map[string]string{
		"job: a\ntarget: {log: {}}\n":                                            "add one of cron, every and at",
		"job: a\nschedule: {every: 1s, cron: '@daily'}\ntarget: {log: {}}\n":     "keep one of cron, every and at",
		"job: a\nschedule: {every: 1s}\n":                                        "add one of them",
		"job: a\nschedule: {every: 1s}\ntarget: {log: {}, handler: {name: h}}\n": "keep one of log and handler",
	} {
		if _, err := Parse("jobs.yaml", []byte(file), today); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", file, err, want)
		}
	}
}

func TestNamesAreUniqueOverAllFiles(t *testing.T) {
	first, err := Parse("a.yaml", []byte("job: a\n"+every+"---\njob: b\n"+every), today)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Parse("b.yaml", []byte("\njob: a\n"+every), today)
	if err != nil {
		t.Fatal(err)
	}
	if err := RefuseRepeats(first); err != nil {
		t.Error(err)
	}
	const want = `b.yaml:2: job: job "a" is given twice, first at a.yaml:1; keep one of them, or rename one`
	first.Add(second)
	if err := RefuseRepeats(first); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// laughs is a file whose aliases multiply tenfold at each of 9 levels.
func laughs(key string) string {
	var b strings.Builder
	b.WriteString("job: a\n" + every + key + ":\n  a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 10; i++ {
		level := string(rune('0' + i))
		below := "*a" + string(rune('0'+i-1))
		b.WriteString("  a" + level + ": &a" + level + " [" + strings.Repeat(below+",", 9) + below + "]\n")
	}
	return b.String()
}

func TestHostileFilesAreRefusedInBoundedTimeAndSpace(t *testing.T) {
	rows := map[string]string{
		"aliases that multiply":         laughs("payload"),
		"aliases that multiply a text":  "job: a\n" + every + "payload:\n  - &x " + strings.Repeat("y", 30<<10) + "\n" + strings.Repeat("  - *x\n", 10_000),
		"an alias that contains itself": "job: a\n" + every + "payload: &x [*x]\n",
		"merges that multiply":          "job: a\n" + every + "labels:\n  <<: [" + strings.Repeat("{a: x},", 100) + "{b: y}]\n  <<: &m {<<: *m}\n",
		"brackets without end":          "job: a\npayload: " + strings.Repeat("[", 500_000),
		"braces without end":            strings.Repeat("{a: ", 200_000),
		"list markers without end":      strings.Repeat("- ", 400_000) + "x",
		"key markers without end":       strings.Repeat("? ", 400_000) + "x",
		"deep indentation":              deep(1000),
		"a file that is too large":      strings.Repeat("#", MaxFile+1),
		"bytes that are no text":        "job: \xff\xfe\x00\n" + every,
		"days without end":              "calendar: a\ndates: [" + strings.Repeat("x,", 150_000) + "x]",
	}
	for name, file := range rows {
		t.Run(name, func(t *testing.T) {
			contents, err := Parse("jobs.yaml", []byte(file), today)
			if err == nil {
				t.Errorf("it was taken: %d jobs", len(contents.Jobs))
			}
			if err != nil && len(err.Error()) > 4000 {
				t.Errorf("the refusal is %d bytes long", len(err.Error()))
			}
		})
	}
}

func deep(levels int) string {
	var b strings.Builder
	for i := range levels {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("job: a\n" + every))
	f.Add([]byte("- &a {job: a, <<: *a, payload: [1, .nan, 0x1F, 1e5]}\n--- !!x\n? k\n: *a\n"))
	f.Add([]byte("calendar: a\nzone: UTC\ndates: [2026-12-24]\nyearly: [12-25]\nweekly: [{days: mon-fri, from: '22:00', to: '06:00'}]\n"))
	f.Add([]byte("job: 'a'\nschedule:\n  cron: */5 * * * *\n"))
	f.Add([]byte("%YAML 1.2\n---\n\"job\": |-\n  x\n...\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		contents, err := Parse("f", data, today)
		if err != nil && len(contents.Jobs)+len(contents.Calendars) > 0 {
			t.Error("jobs came with an error")
		}
		var faults Faults
		if err != nil && !errors.As(err, &faults) {
			t.Errorf("%T is no refusal", err)
		}
		for _, fault := range faults {
			if fault.Err.Line < 1 || fault.Err.Code == "" || fault.Err.Message == "" {
				t.Errorf("%+v", fault.Err)
			}
		}
		for _, c := range contents.Calendars {
			if _, err := schedule.CompileCalendar(c.Content); err != nil {
				t.Errorf("a calendar was taken that breaks a rule: %v", err)
			}
		}
		for _, e := range contents.Jobs {
			if err := e.Definition.WithDefaults().Validate(); err != nil {
				t.Errorf("a job was taken that breaks a rule: %v", err)
			}
		}
	})
}
