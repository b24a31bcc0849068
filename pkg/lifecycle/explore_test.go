package lifecycle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// start is an enabled job before its time.
func start(left bound) state {
	return state{head: headM{on: 1, epoch: 1, runsFrom: 1, cursor: 1}, left: left}
}

// report is what an exploration found.
type report struct {
	states, steps int
	violation     violation // empty: none
	trace         []string  // the shortest way there
}

func (r report) String() string {
	return fmt.Sprintf("%d states, %d steps; %s\n  %s", r.states, r.steps, r.violation, strings.Join(r.trace, "\n  "))
}

const lost violation = "no continuation without faults discharges every duty"

// graph is what a breadth-first search has reached.
type graph struct {
	index  map[state]int32
	states []state
	from   []int32
	label  []string
	faulty []bool
	edges  [][2]int32 // without the faults
}

func (g *graph) add(s state, from int32, label string, fault bool) int32 {
	at, known := g.index[s]
	if !known {
		at = int32(len(g.states))
		g.index[s] = at
		g.states, g.from = append(g.states, s), append(g.from, from)
		g.label, g.faulty = append(g.label, label), append(g.faulty, fault)
	}
	return at
}

// trace is the shortest way to a state, and the state.
func (g *graph) trace(at int32) []string {
	var steps []string
	end := fmt.Sprintf("=> %+v", g.states[at])
	for ; g.from[at] >= 0; at = g.from[at] {
		label := g.label[at]
		if g.faulty[at] {
			label = "[fault] " + label
		}
		steps = append(steps, label)
	}
	slices.Reverse(steps)
	return append(steps, end)
}

// explore visits every state that can be reached from init, up to limit. It
// checks each step, and that from each state a continuation without faults
// discharges every duty.
func (m model) explore(init state, limit int) report {
	g := &graph{index: map[state]int32{}}
	g.add(init, -1, "", false)
	steps := 0
	for at := int32(0); int(at) < len(g.states); at++ {
		s := g.states[at]
		if s.wrong != "" {
			return report{len(g.states), steps, s.wrong, g.trace(at)}
		}
		m.next(&s, func(what string, fault bool, to state) {
			steps++
			next := g.add(to, at, what, fault)
			if !fault {
				g.edges = append(g.edges, [2]int32{at, next})
			}
		})
		if len(g.states) > limit {
			return report{len(g.states), steps, "the bound is larger than the test allows", nil}
		}
	}
	if at, stuck := g.stuck(); stuck {
		return report{len(g.states), steps, lost, g.trace(at)}
	}
	return report{states: len(g.states), steps: steps}
}

// stuck finds the first state from which no discharged one can be reached.
func (g *graph) stuck() (int32, bool) {
	offsets := make([]int32, len(g.states)+1)
	for _, e := range g.edges {
		offsets[e[1]+1]++
	}
	for i := range g.states {
		offsets[i+1] += offsets[i]
	}
	back := make([]int32, len(g.edges))
	fill := slices.Clone(offsets)
	for _, e := range g.edges {
		back[fill[e[1]]] = e[0]
		fill[e[1]]++
	}
	good := make([]bool, len(g.states))
	var queue []int32
	for i := range g.states {
		if g.states[i].discharged() {
			good[i] = true
			queue = append(queue, int32(i))
		}
	}
	for len(queue) > 0 {
		at := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, before := range back[offsets[at]:offsets[at+1]] {
			if !good[before] {
				good[before] = true
				queue = append(queue, before)
			}
		}
	}
	at := slices.Index(good, false)
	return int32(at), at >= 0
}

func TestEveryInterleavingKeepsTheInvariants(t *testing.T) {
	for name, row := range map[string]struct{ left, short bound }{ // short: of a quick run, where the whole takes seconds
		"nothing goes wrong":               {left: bound{scanners: 1}},
		"two scanners":                     {left: bound{scanners: 2}},
		"two scanners and a verb":          {bound{scanners: 2, verbs: 1}, bound{scanners: 1, verbs: 1}},
		"two verbs":                        {left: bound{scanners: 1, verbs: 2}},
		"two verbs and a crash":            {bound{scanners: 1, verbs: 2, crashes: 1}, bound{scanners: 1, verbs: 1, crashes: 1}},
		"two crashes":                      {left: bound{scanners: 1, crashes: 2}},
		"a crash and a freeze":             {left: bound{scanners: 1, crashes: 1, freezes: 1}},
		"a crash, a freeze and a hand-off": {bound{scanners: 1, crashes: 1, freezes: 1, handOffs: 1}, bound{scanners: 1, crashes: 1, handOffs: 1}},
		"a crash, a freeze and a cancel":   {left: bound{scanners: 1, crashes: 1, freezes: 1, cancels: 1}},
		"a verb, a freeze and a cancel":    {left: bound{scanners: 1, verbs: 1, freezes: 1, cancels: 1}},
		"a verb and a duplicate":           {left: bound{scanners: 1, verbs: 1, dups: 1}},
		"a long wait and a crash":          {left: bound{scanners: 1, longWaits: 1, crashes: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && row.short != (bound{}) {
				row.left = row.short
			}
			got := model{}.explore(start(row.left), 1_000_000)
			if got.violation != "" {
				t.Fatal(got)
			}
			t.Logf("%d states, %d steps", got.states, got.steps)
		})
	}
}
