package lifecycle_test

import (
	"testing"

	"pgregory.net/rapid"
)

// settles reports whether some continuation of s without faults discharges every
// duty.
func (m model) settles(s state) bool {
	seen := map[state]bool{s: true}
	for queue := []state{s}; len(queue) > 0; queue = queue[1:] {
		if queue[0].discharged() {
			return true
		}
		m.next(&queue[0], func(_ string, fault bool, to state) {
			if !fault && !seen[to] {
				seen[to] = true
				queue = append(queue, to)
			}
		})
	}
	return false
}

// TestLongTracesKeepTheInvariants goes where no exploration gets: long random
// traces with several of each fault.
func TestLongTracesKeepTheInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		few := rapid.Custom(func(t *rapid.T) uint8 { return rapid.Uint8Range(0, 3).Draw(t, "n") })
		s := start(bound{scanners: rapid.Uint8Range(1, 2).Draw(t, "scanners"), verbs: few.Draw(t, "verbs"), crashes: few.Draw(t, "crashes"),
			freezes: few.Draw(t, "freezes"), dups: few.Draw(t, "dups"), cancels: rapid.Uint8Range(0, 1).Draw(t, "cancels"),
			handOffs: few.Draw(t, "handOffs"), longWaits: few.Draw(t, "longWaits")})
		m := model{rules{maxLost: 4}}
		var trace []string
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			var labels []string
			var goals []state
			m.next(&s, func(what string, _ bool, to state) { labels, goals = append(labels, what), append(goals, to) })
			if len(goals) == 0 {
				break
			}
			pick := rapid.IntRange(0, len(goals)-1).Draw(t, "step")
			trace, s = append(trace, labels[pick]), goals[pick]
			if s.wrong != "" {
				t.Fatalf("%s: %q\n%+v", s.wrong, trace, s)
			}
		}
		if !m.settles(s) {
			t.Fatalf("%s: %q\n%+v", lost, trace, s)
		}
	})
}
