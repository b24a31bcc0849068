package lifecycle_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

func TestMayBegin(t *testing.T) {
	head := &job.Head{Epoch: 5, RunsFrom: 3}
	for sentence, row := range map[string]struct {
		head  *job.Head
		epoch int64
		carry time.Duration // from the scheduled time
		want  bool
	}{
		"the current life begins":                               {head, 5, -time.Hour, true},
		"an unknown job's does not":                             {nil, 5, time.Hour, false},
		"one that is newer than the head does not":              {head, 6, time.Hour, false},
		"after an edit what was due before it begins":           {head, 4, 0, true},
		"after an edit what was due after it does not":          {head, 4, -time.Second, false},
		"two edits back it begins by the first edit's bound":    {head, 3, time.Second, true},
		"nothing older than the last verb that was not an edit": {head, 2, time.Hour, false},
		"nothing that no edit carried":                          {head, 4, -1000 * time.Hour, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := lifecycle.MayBegin(row.head, row.epoch, noon, noon.Add(row.carry)); got != row.want {
				t.Errorf("may begin: %v, want %v", got, row.want)
			}
		})
	}
	if lifecycle.MayBegin(head, 4, noon, time.Time{}) {
		t.Error("without a next revision there is no bound, and nothing older begins")
	}
}

// verb is one line of a job's history as a person would tell it.
type verb struct {
	edit  bool
	carry time.Time // of an edit
}

// tale is MayBegin told from the history: of the execution made in life `made`,
// every later verb must have been an edit, and the first of them must have
// carried its time.
func tale(later []verb, at time.Time) bool {
	for _, v := range later {
		if !v.edit {
			return false
		}
	}
	return len(later) == 0 || !at.After(later[0].carry)
}

func TestMayBeginFollowsFromTheHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) verb {
			return verb{edit: rapid.Bool().Draw(t, "edit"), carry: noon.Add(time.Duration(rapid.IntRange(-2, 2).Draw(t, "carry")) * time.Second)}
		}), 1, 6).Draw(t, "history") // history[0] creates the job
		history[0].edit = false
		head := &job.Head{}
		for _, v := range history {
			head.Epoch++
			if !v.edit {
				head.RunsFrom = head.Epoch
			}
		}
		made := rapid.IntRange(1, len(history)).Draw(t, "made in epoch")
		// The first edit after the execution's revision is the first verb after its
		// epoch whenever only edits followed; otherwise the bound does not count.
		var carry time.Time
		for _, v := range history[made:] {
			if v.edit {
				carry = v.carry
				break
			}
		}
		at := noon.Add(time.Duration(rapid.IntRange(-2, 2).Draw(t, "scheduled")) * time.Second)
		if got, want := lifecycle.MayBegin(head, int64(made), at, carry), tale(history[made:], at); got != want {
			t.Fatalf("made in epoch %d for %v, carry until %v, history %+v: may begin %v, want %v", made, at, carry, history, got, want)
		}
	})
}
