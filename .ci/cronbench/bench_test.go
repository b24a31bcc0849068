// Package cronbench measures pkg/schedule beside the field engine that it stands
// on and two other cron libraries, in one run. It is a module of its own, so
// that the others are no dependencies of Belfry.
package cronbench

import (
	"testing"
	"time"

	gorhill "github.com/gorhill/cronexpr"
	hashicorp "github.com/hashicorp/cronexpr"
	robfig "github.com/robfig/cron/v3"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// expressions are what people write most, and one that is rare.
var expressions = []string{"* * * * *", "*/15 9-17 * * 1-5", "30 2 * * *", "0 0 1 * *", "0 0 29 2 *"}

const zone = "Europe/Berlin"

var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// next is one library's parsed schedule.
type next func(after time.Time) time.Time

// libraries parse an expression, each in its own way of naming a zone. The
// engine alone and hashicorp's fork are given UTC: in a zone they lose or
// repeat times.
var libraries = []struct {
	name  string
	parse func(expr string) (next, error)
}{
	{"belfry", func(expr string) (next, error) { return parseBelfry(expr, zone) }},
	{"belfry-utc", func(expr string) (next, error) { return parseBelfry(expr, "UTC") }},
	{"gorhill-utc", func(expr string) (next, error) {
		parsed, err := gorhill.Parse(expr)
		if err != nil {
			return nil, err
		}
		return parsed.Next, nil
	}},
	{"hashicorp-utc", func(expr string) (next, error) {
		parsed, err := hashicorp.Parse(expr)
		if err != nil {
			return nil, err
		}
		return parsed.Next, nil
	}},
	{"robfig", func(expr string) (next, error) {
		parsed, err := robfig.ParseStandard("CRON_TZ=" + zone + " " + expr)
		if err != nil {
			return nil, err
		}
		return parsed.Next, nil
	}},
}

func parseBelfry(expr, zone string) (next, error) {
	plan, err := schedule.Compile(job.Schedule{Cron: expr, Zone: zone, Dialect: job.DialectUnix}, time.Time{})
	if err != nil {
		return nil, err
	}
	return func(after time.Time) time.Time {
		at, _ := plan.Next(after)
		return at
	}, nil
}

// BenchmarkNext asks a parsed schedule for one time after the other.
func BenchmarkNext(b *testing.B) {
	for _, expr := range expressions {
		for _, library := range libraries {
			b.Run(expr+"/"+library.name, func(b *testing.B) {
				ask, err := library.parse(expr)
				if err != nil {
					b.Fatal(err)
				}
				at := begin
				for b.Loop() {
					if at = ask(at); at.IsZero() || at.Year() > 2090 {
						at = begin
					}
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "times/s")
			})
		}
	}
}

// BenchmarkParseAndNext parses and asks once.
func BenchmarkParseAndNext(b *testing.B) {
	for _, expr := range expressions {
		for _, library := range libraries {
			b.Run(expr+"/"+library.name, func(b *testing.B) {
				for b.Loop() {
					ask, err := library.parse(expr)
					if err != nil || ask(begin).IsZero() {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "times/s")
			})
		}
	}
}
