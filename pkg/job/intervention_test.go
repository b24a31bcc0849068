package job_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestANoteIsBounded(t *testing.T) {
	for name, row := range map[string]struct {
		note string
		want job.Code
	}{
		"none":              {"", ""},
		"as long as may be": {strings.Repeat("x", job.MaxNote), ""},
		"a byte too long":   {strings.Repeat("x", job.MaxNote+1), job.CodeTooLarge},
		"no text":           {"\xff", job.CodeInvalid},
	} {
		if got := job.CodeOf(job.CheckNote(row.note)); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

// A replay's key follows from its run and what it repeats; it sorts beside that, and
// what differs in either gets another one.
func TestTheKeyOfAReplayFollowsFromItsRun(t *testing.T) {
	noon := time.Date(2026, 7, 12, 12, 0, 0, 0, time.UTC)
	seen := map[string]string{}
	rapid.Check(t, func(r *rapid.T) {
		of := job.ScheduledKey(noon.Add(time.Duration(rapid.IntRange(0, 3).Draw(r, "second")) * time.Second))
		if rapid.Bool().Draw(r, "of a replay") {
			var err error
			if of, err = job.RepeatKey("before", of); err != nil {
				r.Fatal(err)
			}
		}
		run := rapid.SampledFrom([]string{"a", "b", "one a", ""}).Draw(r, "run")
		key, err := job.RepeatKey(run, of)
		if err != nil || key.Kind != job.KindReplay || !key.ScheduledAt.Equal(of.ScheduledAt) {
			r.Fatalf("%v, %v", key, err)
		}
		if back, err := job.ParseKey(key.String()); err != nil || back != key {
			r.Fatalf("it reads back as %v, %v", back, err)
		}
		source := fmt.Sprint(run, "/", of)
		if was, known := seen[key.String()]; known && was != source {
			r.Fatalf("%s and %s share %s", was, source, key)
		}
		seen[key.String()] = source
		if again, _ := job.RepeatKey(run, of); again != key {
			r.Fatal("the same run made another key")
		}
	})
}
