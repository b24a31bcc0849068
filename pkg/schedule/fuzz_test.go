package schedule

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// FuzzCompileCron: whatever the text, Compile refuses it with a reason or
// returns a plan that fires, in order, within the years it promises.
func FuzzCompileCron(f *testing.F) {
	for _, c := range readCases[cronCase](f, "cron.jsonl") {
		f.Add(c.Expr, c.Zone, int64(1_700_000_000))
	}
	for _, c := range readCases[invalidCase](f, "invalid.jsonl") {
		f.Add(c.Expr, c.Zone, int64(horizon))
	}
	f.Fuzz(func(t *testing.T, cron, zoneName string, after int64) {
		plan, err := Compile(job.Schedule{Cron: cron, Zone: zoneName}, time.Time{})
		if err != nil {
			var refusal *job.Error
			if !errors.As(err, &refusal) || refusal.Code == job.CodeInternal || refusal.Message == "" || len(err.Error()) > 3000 {
				t.Fatalf("%q in %q: %v", cron, zoneName, err)
			}
			return
		}
		if _, ok := plan.Next(time.Time{}); !ok {
			t.Fatalf("%q in %q never fires", cron, zoneName)
		}
		at := time.Unix(after%horizon, 0)
		for range 5 {
			next, ok := plan.Next(at)
			if !ok {
				break
			}
			if !next.After(at) || next.Year() < 1970 || next.Year() > 2099 {
				t.Fatalf("%q in %q: %v after %v", cron, zoneName, next, at)
			}
			at = next
		}
		// What a grammar accepts in capitals it accepts in lower case: names only.
		if !strings.Contains(cron, "@") {
			upper, err := Compile(job.Schedule{Cron: strings.ToUpper(cron), Zone: zoneName}, time.Time{})
			if err != nil || upper.fields != plan.fields {
				t.Fatalf("%q differs in capitals: %v", cron, err)
			}
		}
	})
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
