package schedule

import (
	"bytes"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// manyQuestions is n questions of all kinds: every case of the oracle, and of
// those that look furthest (rare days, exhausted, zones with many changes).
func manyQuestions(tb testing.TB, n int) []byte {
	tb.Helper()
	cases := readCases[cronCase](tb, "cron.jsonl")
	zones := []string{"UTC", "Europe/Berlin", "Africa/Casablanca", "Pacific/Apia", "Australia/Lord_Howe"}
	rare := []string{"0 0 29 2 *", "0 0 29 2 mon#5", "0 0 31 2 1#5", "0 0 30,31 2 *", "0 0 31 2,4,6,9,11 *", "30 2 L * 5L", "0-59 0-23 1-31 1-12 0-7"}
	var lines bytes.Buffer
	for i := range n {
		expr, zone, after := rare[i%len(rare)], zones[i%len(zones)], "2097-03-01T00:00:00Z"
		if i%4 != 0 {
			c := cases[i%len(cases)]
			expr, zone, after = c.Expr, c.Zone, c.After
		}
		fmt.Fprintf(&lines, `{"id":%d,"dialect":"unix","expr":%q,"zone":%q,"after":%q,"count":%d}`+"\n", i, expr, zone, after, 1+i%10)
	}
	return lines.Bytes()
}

func BenchmarkServeNext10000(b *testing.B) {
	lines := manyQuestions(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		if err := ServeNext(b.Context(), bytes.NewReader(lines), io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	for _, cron := range []string{"* * * * *", "30 2 * * *", "0 0 29 2 *", "0 9 15W * *"} {
		b.Run(cron, func(b *testing.B) {
			plan, err := Compile(job.Schedule{Cron: cron, Zone: "Europe/Berlin"}, time.Time{})
			if err != nil {
				b.Fatal(err)
			}
			at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			for b.Loop() {
				next, ok := plan.Next(at)
				if at = next; !ok {
					at = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		if _, err := Compile(job.Schedule{Cron: "0,15,30,45 9-17 1,15,L * mon-fri", Zone: "Europe/Berlin"}, time.Time{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPlanLateEverySecondDownForAYear(b *testing.B) {
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	plan, err := Compile(job.Schedule{Every: job.Duration(time.Second)}, now.AddDate(-2, 0, 0))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		PlanLate(plan, now.AddDate(-1, 0, 0), now, job.Misfire{Policy: job.MisfireFireAll, Max: 1000})
	}
}

func BenchmarkPlanLateEveryMinuteDownForAYear(b *testing.B) {
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	plan, err := Compile(job.Schedule{Cron: "* * * * *", Zone: "Europe/Berlin"}, time.Time{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		PlanLate(plan, now.AddDate(-1, 0, 0), now, job.Misfire{Policy: job.MisfireFireAll, Max: 1000})
	}
}
