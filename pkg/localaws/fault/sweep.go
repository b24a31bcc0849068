package fault

import (
	"fmt"
	"sync"
)

// Trial is one run of a swept scenario.
type Trial struct {
	Name   string            // for a sub-test; "no fault" for the first run
	Decide func(Call) Action // to be given to Wrap; several Clients may share it
	Call   Call              // the call, as the first run made it, that the fault is put at; zero in the first run
	Action Action            // what happens there; Pass in the first run
	state  *trialState
}

type trialState struct {
	mu    sync.Mutex
	calls []Call
	fired bool
}

// Fired tells whether the run has come to the call that the fault is put at. A
// trial that has not shows nothing.
func (t Trial) Fired() bool {
	t.state.mu.Lock()
	defer t.state.mu.Unlock()
	return t.state.fired
}

// Sweep runs a scenario once without faults, to see which calls it makes, and
// then once more for each of these calls and each action, with that action at
// that call. match chooses the calls that count, nil means all; long polls,
// say, are best left out. Calls are counted over all Clients that use the
// trial's Decide. Sweep returns the number of runs with a fault.
func Sweep(actions []Action, match func(Call) bool, run func(Trial)) int {
	if match == nil {
		match = func(Call) bool { return true }
	}
	first := newTrial("no fault", match, 0, Call{}, Pass)
	run(first)
	runs := 0
	for i, call := range first.state.calls {
		for _, action := range actions {
			name := fmt.Sprintf("%s at call %d (%s)", action, i+1, call.Operation)
			run(newTrial(name, match, i+1, call, action))
			runs++
		}
	}
	return runs
}

// newTrial makes the trial whose fault is at the nth call that matches, from
// 1; 0 means none.
func newTrial(name string, match func(Call) bool, n int, call Call, action Action) Trial {
	state := new(trialState)
	return Trial{
		Name: name, Call: call, Action: action, state: state,
		Decide: func(call Call) Action {
			state.mu.Lock()
			defer state.mu.Unlock()
			if !match(call) {
				return Pass
			}
			state.calls = append(state.calls, call)
			if len(state.calls) != n {
				return Pass
			}
			state.fired = true
			return action
		},
	}
}

// At returns a decision that takes the action at the nth call, from 1, and
// lets all others pass.
func At(n int, action Action) func(Call) Action {
	return func(call Call) Action {
		if call.N == n {
			return action
		}
		return Pass
	}
}
