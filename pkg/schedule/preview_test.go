package schedule

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

var update = flag.Bool("update", false, "write the golden files anew")

// compareGolden compares text with a file of testdata.
func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update writes it anew):\n%s", path, got)
	}
}

func TestPreviewMarksEveryChangeOfClocks(t *testing.T) {
	var b strings.Builder
	for _, c := range []struct {
		title    string
		schedule job.Schedule
		after    string
		count    int
	}{
		{"a daily time in the gap, shifted", job.Schedule{Cron: "30 2 * * *", Zone: "Europe/Berlin"}, "2026-03-27T12:00:00Z", 3},
		{"the same, left out", job.Schedule{Cron: "30 2 * * *", Zone: "Europe/Berlin", Gap: job.GapSkip}, "2026-03-27T12:00:00Z", 3},
		{"several in the gap, and one as it ends", job.Schedule{Cron: "*/20 2,3 * * *", Zone: "Europe/Berlin"}, "2026-03-29T00:30:00Z", 3},
		{"the gap's end alone is no effect", job.Schedule{Cron: "0 3 * * *", Zone: "Europe/Berlin"}, "2026-03-28T12:00:00Z", 1},
		{"an interval goes on through the gap", job.Schedule{Cron: "*/30 * * * *", Zone: "Europe/Berlin"}, "2026-03-29T00:00:00Z", 4},
		{"a daily time that comes twice", job.Schedule{Cron: "30 2 * * *", Zone: "Europe/Berlin"}, "2026-10-24T12:00:00Z", 2},
		{"the second of them", job.Schedule{Cron: "30 2 * * *", Zone: "Europe/Berlin", Overlap: job.OverlapSecond}, "2026-10-24T12:00:00Z", 2},
		{"both of them", job.Schedule{Cron: "30 2 * * *", Zone: "Europe/Berlin", Overlap: job.OverlapBoth}, "2026-10-24T12:00:00Z", 3},
		{"half an hour twice", job.Schedule{Cron: "@hourly", Zone: "Australia/Lord_Howe"}, "2024-04-06T13:30:00Z", 3},
		{"a whole day left out", job.Schedule{Cron: "0 */8 * * *", Zone: "Pacific/Apia", Gap: job.GapSkip}, "2011-12-30T00:00:00Z", 3},
		{"a whole day shifted", job.Schedule{Cron: "0 12 30 12 *", Zone: "Pacific/Apia"}, "2011-06-01T00:00:00Z", 2},
		{"an offset of odd seconds", job.Schedule{Cron: "10 0 * * *", Zone: "Africa/Monrovia"}, "1972-01-05T12:00:00Z", 2},
		{"an interval knows no clock", job.Schedule{Every: 1800 * second, Start: instantOf(t, "2026-03-29T00:00:00Z"), Zone: "Europe/Berlin"}, "2026-03-29T00:29:59Z", 2},
		{"one time, then none", job.Schedule{At: instantOf(t, "2026-10-25T01:30:00Z"), Zone: "Europe/Berlin"}, "2026-03-29T00:29:59Z", 2},
	} {
		plan := compiled(t, c.schedule)
		fmt.Fprintf(&b, "# %s\n%s\n", c.title, plan.Describe())
		for _, fire := range plan.Preview(instantOf(t, c.after), c.count, job.Ref{}) {
			fmt.Fprintf(&b, "%s  %s %s  %s\n", fire.At.Format("2006-01-02T15:04:05Z07:00"), fire.Local, fire.Offset, fire.Mark)
		}
		b.WriteString("\n")
	}
	compareGolden(t, "preview.golden", b.String())
}

func TestDescribeSaysItInWords(t *testing.T) {
	var b strings.Builder
	for _, cron := range []string{
		"* * * * *", "*/15 * * * *", "0 * * * *", "30 2 * * *", "0,30 9-11 * * *", "*/10 9-17 * * mon-fri", "* 1-2 * * *", "0 9-17 * * *", "7 * * * *", "*/7 * * * *",
		"0 0 1 * *", "0 0 1,15,L * *", "0 0 LW 3,6,9,12 *", "0 9 15W * *", "0 9 * * 5L", "0 9 * * mon#1,wed#3", "0 0 13 * 5", "0 6 * 6-8 sat,sun",
		"@yearly", "@weekly", "0 0 * * 0-6", "0 0 1-31 6 *", "0 0 13 * 0-6",
	} {
		fmt.Fprintf(&b, "%-22s %s\n", cron, compiled(t, job.Schedule{Cron: cron}).Describe())
	}
	for _, c := range []struct {
		dialect job.Dialect
		cron    string
	}{
		{job.DialectQuartz, "* * * * * ?"}, {job.DialectQuartz, "*/10 * * * * ?"}, {job.DialectQuartz, "5,10 * * * * ?"}, {job.DialectQuartz, "30 15 9 * * ?"},
		{job.DialectQuartz, "0/20 0,30 9-17 ? * MON-FRI"}, {job.DialectQuartz, "7 * 9-10 ? * SUN,SAT"}, {job.DialectQuartz, "7 1-3 * ? * L"}, {job.DialectQuartz, "0 0 12 L-3,L-1W * ?"},
		{job.DialectQuartz, "0 0 22-2 * * ? 2026,2028-2030"}, {job.DialectAWS, "0 9 ? * 6#3 2026"}, {job.DialectCronexpr, "0 0 1 1 * */43"},
		{job.DialectCronexpr, "0 0 1 1 * 1970/4"}, {job.DialectCronexpr, "0 0 1 1 * 2026-2099"}, {job.DialectCronexpr, "0 0 1 1 * 2024,2026-2030/2,2031,2040"},
	} {
		fmt.Fprintf(&b, "%-30s %s\n", c.cron, compiled(t, job.Schedule{Cron: c.cron, Dialect: c.dialect}).Describe())
	}
	start, end := instantOf(t, "2026-01-01T00:00:00Z"), instantOf(t, "2026-12-31T23:59:59Z")
	fmt.Fprintln(&b, compiled(t, job.Schedule{Cron: "@daily", Zone: "America/New_York", Start: start, End: end}).Describe())
	fmt.Fprintln(&b, compiledFrom(t, job.Schedule{Every: 90 * second}, start).Describe())
	compareGolden(t, "describe.golden", b.String())
}

func TestDescribeAtNamesTheNextChangesOfClocks(t *testing.T) {
	var b strings.Builder
	for _, c := range []struct {
		schedule job.Schedule
		now      string
	}{
		{job.Schedule{Cron: "30 2 * * 1-5", Zone: "America/New_York"}, "2026-11-29T00:00:00Z"},
		{job.Schedule{Cron: "30 2 * * *", Zone: "America/New_York"}, "2026-11-29T00:00:00Z"},
		{job.Schedule{Cron: "30 2 * * *", Zone: "America/New_York", Gap: job.GapSkip}, "2026-11-29T00:00:00Z"},
		{job.Schedule{Cron: "30 1 * * *", Zone: "America/New_York"}, "2026-11-29T00:00:00Z"},
		{job.Schedule{Cron: "0,30 1,2 * * *", Zone: "America/New_York", Overlap: job.OverlapBoth}, "2026-11-29T00:00:00Z"},
		{job.Schedule{Cron: "*/5 * * * *", Zone: "America/New_York"}, "2026-11-29T00:00:00Z"},
		{job.Schedule{Cron: "0 9 * * *", Zone: "America/New_York"}, "2026-11-29T00:00:00Z"},
		{job.Schedule{Cron: "30 2 * * *", Zone: "America/New_York", End: instantOf(t, "2027-03-01T00:00:00Z")}, "2026-11-29T00:00:00Z"},
		{job.Schedule{Cron: "30 2 * * *", Zone: "Asia/Tokyo"}, "2026-11-29T00:00:00Z"},
		{job.Schedule{Cron: "0 12 30 12 *", Zone: "Pacific/Apia"}, "2011-06-01T00:00:00Z"},
		{job.Schedule{Cron: "30 2 * * *", Zone: "Etc/GMT+5"}, "2026-11-29T00:00:00Z"},
		{job.Schedule{Cron: "0 6 * * *", Zone: "America/Argentina/Buenos_Aires"}, "2026-11-29T00:00:00Z"},
		{job.Schedule{Every: 90 * second}, "2026-11-29T00:00:00Z"},
		{job.Schedule{Cron: "30 2 * * *", Zone: "Africa/Casablanca"}, "2027-02-06T00:00:00Z"},
	} {
		plan := compiled(t, c.schedule)
		fmt.Fprintf(&b, "%-14s %s\n", plan.source(), plan.DescribeAt(instantOf(t, c.now)))
	}
	compareGolden(t, "describeat.golden", b.String())
}
