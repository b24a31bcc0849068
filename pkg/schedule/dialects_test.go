package schedule

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// dialectCase is a row of quartz.jsonl and aws.jsonl: an expression of the
// dialect's documentation or of our own, and its next times, as the enumerator
// finds them.
type dialectCase struct {
	ID     string      `json:"id"`
	Source string      `json:"source"`
	Expr   string      `json:"expr"`
	Means  string      `json:"means,omitempty"`
	Zone   string      `json:"zone"`
	After  time.Time   `json:"after"`
	Next   []time.Time `json:"next"`
}

const dialectTimes = 6

func TestDialectCasesFireAtTheTimesOfTheEnumerator(t *testing.T) {
	for _, dialect := range []job.Dialect{job.DialectQuartz, job.DialectAWS} {
		name := string(dialect) + ".jsonl"
		rows := readCases[dialectCase](t, name)
		if len(rows) < 60 {
			t.Errorf("%s has %d rows", name, len(rows))
		}
		var written strings.Builder
		for _, row := range rows {
			t.Run(row.ID, func(t *testing.T) {
				z, err := loadZone(row.Zone)
				if err != nil {
					t.Fatal(err)
				}
				want := newEnumerator(t, dialect, row.Expr).after(z.loc, row.After, dialectTimes)
				if *update {
					row.Next = want
				}
				if !sameTimes(row.Next, want) {
					t.Errorf("%q: the row has %v, the enumerator %v", row.Expr, row.Next, want)
				}
				plan := compiled(t, job.Schedule{Cron: row.Expr, Dialect: dialect, Zone: row.Zone})
				if got := plan.Between(row.After, instant(horizon), dialectTimes); !sameTimes(got, row.Next) {
					t.Errorf("%q in %s after %s: got %v, want %v", row.Expr, row.Zone, row.After, got, row.Next)
				}
			})
			line, err := json.Marshal(row)
			if err != nil {
				t.Fatal(err)
			}
			written.Write(append(line, '\n'))
		}
		compareGolden(t, name, written.String())
	}
}
