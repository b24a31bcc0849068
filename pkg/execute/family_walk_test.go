package execute_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// walk visits every state that can be reached, and tells the first one that is wrong,
// or from which no continuation without faults ends well.
func (r familyRules) walk(init familyM) (states int, finding string, trace []string) {
	index, all := map[familyM]int32{init: 0}, []familyM{init}
	from, label := []int32{-1}, []string{""}
	back := map[int32][]int32{}
	way := func(at int32) (steps []string) {
		for ; from[at] >= 0; at = from[at] {
			steps = append(steps, label[at])
		}
		slices.Reverse(steps)
		return steps
	}
	for at := int32(0); int(at) < len(all); at++ {
		if all[at].wrong != "" {
			return len(all), all[at].wrong, way(at)
		}
		r.next(all[at], func(what string, fault bool, to familyM) {
			i, known := index[to]
			if !known {
				i = int32(len(all))
				index[to] = i
				all, from, label = append(all, to), append(from, at), append(label, what)
			}
			if !fault {
				back[i] = append(back[i], at)
			}
		})
	}
	good := make([]bool, len(all))
	var queue []int32
	for i, s := range all {
		if s.discharged() {
			good[i], queue = true, append(queue, int32(i))
		}
	}
	for len(queue) > 0 {
		at := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, before := range back[at] {
			if !good[before] {
				good[before], queue = true, append(queue, before)
			}
		}
	}
	if at := slices.Index(good, false); at >= 0 {
		return len(all), "no continuation without faults ends well", append(way(int32(at)), fmt.Sprintf("%+v", all[at]))
	}
	return len(all), "", nil
}

func firstParent(crashes, freezes uint8) familyM {
	return familyM{kids: 1<<kids - 1, token: 1, crashes: crashes, freezes: freezes}
}

// onePerPage leaves a child out, for bounds that would take minutes with it.
func onePerPage(crashes, freezes uint8) familyM {
	s := firstParent(crashes, freezes)
	s.kids = 0b101
	return s
}

func TestWhatFollowsChildrenRunsOnceInEveryInterleaving(t *testing.T) {
	for sentence, init := range map[string]familyM{"nothing goes wrong": firstParent(0, 0), "a crash": firstParent(1, 0), "a frozen parent": onePerPage(0, 1),
		"a crash, with a child on each page": onePerPage(1, 0)} {
		t.Run(sentence, func(t *testing.T) {
			if testing.Short() && (init.crashes > 0 && init.kids != 0b101 || init.freezes > 0) {
				return // seconds; a smaller bound beside it has the same rules
			}
			states, finding, trace := familyRules{}.walk(init)
			if finding != "" {
				t.Fatalf("%d states; %s\n  %s", states, finding, strings.Join(trace, "\n  "))
			}
			t.Logf("%d states", states)
		})
	}
}

func TestEachRuleOfFanningOutIsNeeded(t *testing.T) {
	const early, lost = "what follows began before all children had ended", "no continuation without faults ends well"
	for sentence, row := range map[string]struct {
		rules familyRules
		init  familyM
		finds string
	}{
		"whoever receives the message of what has ended does what its end asks for": {familyRules{leavesOnce: true}, firstParent(1, 0), lost},
		"a page is noted after its messages are sent":                               {familyRules{notesFirst: true}, firstParent(1, 0), lost},
		"a child that is there is sent again":                                       {familyRules{noResend: true}, firstParent(1, 0), lost},
		"a page is opened before its children are sent":                             {familyRules{opensLate: true}, firstParent(1, 0), lost},
		"the fan-out knows its pages from the start":                                {familyRules{pagesAppear: true}, firstParent(0, 0), early},
		"a parent does not end well before its children are made":                   {familyRules{settlesEarly: true}, firstParent(0, 0), lost},
	} {
		t.Run(sentence, func(t *testing.T) {
			states, finding, trace := row.rules.walk(row.init)
			if finding != row.finds {
				t.Fatalf("%d states; found %q, want %q\n  %s", states, finding, row.finds, strings.Join(trace, "\n  "))
			}
			t.Logf("%d states; %s\n  %s", states, finding, strings.Join(trace, "\n  "))
		})
	}
}
