package lifecycle_test

import (
	"testing"
)

// lostOnce is a job whose first attempt has lost its worker; the successor lies
// in the isolation queue.
func lostOnce(left bound) state {
	s := start(left)
	s.now, s.owed, s.head.cursor = 1, 1, 2
	s.x = execM{st: run, epoch: 1, attempt: 1, owner: 1}
	s.letters[0] = letterM{st: visible, epoch: 1, isolated: 1}
	return s
}

// TestEachRuleIsNeeded drops one rule at a time and wants the exploration to find
// the trace that the rule is there to prevent; with the rule it finds none.
func TestEachRuleIsNeeded(t *testing.T) {
	const older violation = "an execution of an older life began after a verb was acknowledged"
	for name, row := range map[string]struct {
		rules rules
		init  state
		finds violation
	}{
		"the claim asks the claim rule":                       {rules{noEpoch: true}, start(bound{scanners: 1, verbs: 1}), older},
		"a claim wants the message's own life":                {rules{noMessage: true}, start(bound{scanners: 1, verbs: 2}), older},
		"a verb withdraws before it is acknowledged":          {rules{noWithdraw: true}, start(bound{scanners: 1, verbs: 1}), older},
		"the wake scan removes only the wake-up that it read": {rules{noWakeVersion: true}, start(bound{scanners: 1, handOffs: 1, longWaits: 1, crashes: 1}), lost},
		"a message of what somebody runs is not deleted":      {rules{deleteLeased: true}, start(bound{scanners: 1, crashes: 1}), lost},
		"a worker that lost its lease deletes nothing":        {rules{deleteLost: true, maxLost: 3}, lostOnce(bound{freezes: 2, crashes: 1}), lost},
		"a settle asks for owner and token":                   {rules{noToken: true}, start(bound{scanners: 1, freezes: 2}), "a worker without the lease settled"},
		"a scanner that finds its execution sends again":      {rules{noSendAgain: true}, start(bound{scanners: 1, crashes: 1}), lost},
		"a taker waits for the end of the lease":              {rules{leaseIgnored: true}, start(bound{scanners: 2}), "a live lease was taken over"},
	} {
		t.Run(name, func(t *testing.T) {
			got := model{row.rules}.explore(row.init, 1_000_000)
			if got.violation != row.finds {
				t.Fatalf("want: %s; got %s", row.finds, got)
			}
			t.Log(got)
			if kept := (model{rules{maxLost: row.rules.maxLost}}).explore(row.init, 1_000_000); kept.violation != "" {
				t.Errorf("with the rule: %s", kept)
			}
		})
	}
}
