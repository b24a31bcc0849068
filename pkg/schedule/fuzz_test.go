package schedule

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// fuzzDialects are what a fuzzed number chooses from.
var fuzzDialects = []job.Dialect{"", job.DialectUnix, job.DialectQuartz, job.DialectAWS, job.DialectCronexpr}

// FuzzCompileCron: whatever the text, Compile refuses it with a reason or
// returns a plan that fires, in order, within the years it promises.
func FuzzCompileCron(f *testing.F) {
	for _, c := range readCases[cronCase](f, "cron.jsonl") {
		f.Add(uint8(slices.Index(fuzzDialects, c.Dialect)), c.Expr, c.Zone, int64(1_700_000_000))
	}
	for _, c := range readCases[invalidCase](f, "invalid.jsonl") {
		f.Add(uint8(slices.Index(fuzzDialects, c.Dialect)), c.Expr, c.Zone, int64(horizon))
	}
	for i, name := range []string{"quartz.jsonl", "aws.jsonl"} {
		for _, c := range readCases[dialectCase](f, name) {
			f.Add(uint8(i+2), c.Expr, c.Zone, c.After.Unix())
			f.Add(uint8(0), c.Expr, c.Zone, c.After.Unix())
		}
	}
	f.Fuzz(func(t *testing.T, dialect uint8, cron, zoneName string, after int64) {
		asked := job.Schedule{Cron: cron, Dialect: fuzzDialects[int(dialect)%len(fuzzDialects)], Zone: zoneName}
		at := time.Unix(after%horizon, 0)
		plan, err := Compile(asked, at)
		if err != nil {
			var refusal *job.Error
			if !errors.As(err, &refusal) || refusal.Code == job.CodeInternal || refusal.Message == "" || len(err.Error()) > 5000 {
				t.Fatalf("%+v: %v", asked, err)
			}
			return
		}
		checkFires(t, asked, plan, at)
		// What a grammar accepts in capitals it accepts in lower case: names only.
		if !strings.ContainsAny(cron, "@(") {
			upper := asked
			upper.Cron = strings.ToUpper(cron)
			again, err := Compile(upper, at)
			if err != nil || again.fields != plan.fields {
				t.Fatalf("%q differs in capitals: %v", cron, err)
			}
		}
	})
}

// checkFires sees a plan fire at all, in order, within its years, on days that
// the calendar of monthdays.go names too.
func checkFires(t *testing.T, asked job.Schedule, plan *Plan, after time.Time) {
	t.Helper()
	asked.Gap = job.GapShiftForward
	if lenient, err := Compile(asked, after); err != nil {
		t.Fatalf("%+v: refused once it shifts: %v", asked, err)
	} else if _, ok := lenient.Next(time.Time{}); !ok {
		t.Fatalf("%+v never fires", asked)
	}
	walls := plan.times.(*civil).wall
	wall := after.Unix()
	for range 5 {
		next, ok := plan.Next(after)
		if !ok {
			break
		}
		if !next.After(after) || next.Year() < 1970 || next.Year() > 2099 {
			t.Fatalf("%+v: %v after %v", asked, next, after)
		}
		after = next
		if wall, ok = walls.next(wall); !ok {
			continue
		}
		if year, month, day := instant(wall).Date(); !plan.fields.daysOf(year, month).has(day) || !plan.fields.months.has(int(month)) {
			t.Fatalf("%+v: the engine fires on %v, which the calendar does not name", asked, instant(wall))
		}
	}
}

// FuzzServeNext: whatever comes in, each line gets one answer.
func FuzzServeNext(f *testing.F) {
	f.Add(`{"id":"a","dialect":"unix","expr":"30 2 * * *","zone":"Europe/Berlin","after":"2026-03-28T12:00:00Z","count":2,"gap":"","overlap":""}`)
	f.Add("\n{}\n[]\n{\"id\":1e5,\"count\":3}")
	f.Add(`{"id":"\ud800","expr":null}`)
	f.Fuzz(func(t *testing.T, input string) {
		want := strings.Count(input, "\n")
		if input != "" && !strings.HasSuffix(input, "\n") {
			want++
		}
		var out strings.Builder
		if err := ServeNext(t.Context(), strings.NewReader(input), &out); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(out.String(), "\n"); got != want {
			t.Fatalf("%d lines, %d answers", want, got)
		}
		if strings.Contains(out.String(), string(job.CodeInternal)) {
			t.Fatalf("a fault of ours: %s", out.String())
		}
	})
}

// FuzzParseTime: what is accepted names the instant that the library reads.
func FuzzParseTime(f *testing.F) {
	f.Add("2026-07-12T01:30:00.5+02:00")
	f.Add("2026-07-12T24:00:00Z")
	f.Fuzz(func(t *testing.T, text string) {
		at, err := ParseTime("after", text)
		if err != nil {
			if job.CodeOf(err) != job.CodeTimeInvalid {
				t.Fatal(err)
			}
			return
		}
		if want, err := time.Parse(time.RFC3339Nano, text); err != nil || !at.Equal(want) {
			t.Fatalf("%q: %v, want %v, %v", text, at, want, err)
		}
	})
}

// FuzzServePlans: whatever comes in, each line gets one answer.
func FuzzServePlans(f *testing.F) {
	f.Add(`{"id":"a","expr":"0 6 * * *","zone":"UTC","cursor":"2024-05-01T06:00:00Z","up_at":"2024-05-06T12:00:00Z","policy":{"misfire":"COALESCE","window_s":172800,"max":10,"tolerance_s":60}}`)
	f.Add(`{"id":"a","expr":"* * * * * *","dialect":"cronexpr","zone":"UTC","cursor":"1970-01-01T00:00:00Z","up_at":"2099-12-31T23:59:59Z","policy":{"misfire":"FIRE_ALL","max":5},"dispatched":["2024-05-01T06:00:00Z"]}`)
	f.Fuzz(func(t *testing.T, line string) {
		line = strings.ReplaceAll(line, "\n", " ")
		var out strings.Builder
		if err := ServePlans(t.Context(), strings.NewReader(line+"\n"), &out); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(out.String(), "\n"); got != 1 || strings.Contains(out.String(), string(job.CodeInternal)) {
			t.Fatalf("%d answers: %s", got, out.String())
		}
	})
}
