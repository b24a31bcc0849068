package lifecycle_test

import "testing"

// lacking is an enabled job whose schedule does not have the time.
func lacking(left bound) state {
	s := start(left)
	s.head.lacks, s.head.cursor = 1, 2
	return s
}

// backfilled is a job that a person has asked to make good a time that passed.
func backfilled(scanners uint8, left bound) state {
	s := start(left)
	s.now, s.owed, s.head.cursor = 1, 1, 2
	s.fill = fillM{at: aheadOf, scanners: scanners}
	return s
}

func TestEveryInterleavingKeepsTheInvariantsWhereTimesMove(t *testing.T) {
	for name, row := range map[string]struct{ init, short state }{
		"a switch-over":                         {init: start(bound{scanners: 1, laters: 1})},
		"a switch-over and a crash":             {start(bound{scanners: 1, laters: 1, crashes: 1}), start(bound{scanners: 1, laters: 1})},
		"a switch-over that two scanners make":  {start(bound{scanners: 2, laters: 1}), start(bound{scanners: 1, laters: 1})},
		"a switch-over and a verb":              {init: start(bound{scanners: 1, laters: 1, verbs: 1})},
		"a switch-over and two verbs":           {start(bound{scanners: 1, laters: 1, verbs: 2}), start(bound{scanners: 1, laters: 1, verbs: 1})},
		"a switch-over, a verb and a crash":     {start(bound{scanners: 1, laters: 1, verbs: 1, crashes: 1}), start(bound{scanners: 1, laters: 1, crashes: 1})},
		"a switch-over to a schedule with it":   {init: lacking(bound{scanners: 1, laters: 1, verbs: 1})},
		"two switch-overs":                      {init: start(bound{scanners: 1, laters: 2})},
		"a sweep":                               {init: start(bound{scanners: 1, sweeps: 1})},
		"a sweep that brings the time":          {init: lacking(bound{scanners: 1, sweeps: 1, crashes: 1})},
		"a sweep amid two scanners":             {start(bound{scanners: 2, sweeps: 1}), start(bound{scanners: 1, sweeps: 1})},
		"a sweep and a crash":                   {init: start(bound{scanners: 1, sweeps: 1, crashes: 1})},
		"a sweep and a verb":                    {init: start(bound{scanners: 1, sweeps: 1, verbs: 1})},
		"a sweep there and back":                {init: start(bound{scanners: 1, sweeps: 2})},
		"a sweep amid a switch-over":            {init: start(bound{scanners: 1, sweeps: 1, laters: 1})},
		"a sweep, a verb and a crash":           {start(bound{scanners: 1, sweeps: 1, verbs: 1, crashes: 1}), start(bound{scanners: 1, sweeps: 1, verbs: 1})},
		"a backfill":                            {init: backfilled(1, bound{})},
		"a backfill by two scanners":            {backfilled(2, bound{crashes: 1}), backfilled(1, bound{crashes: 1})},
		"a backfill and two verbs":              {init: backfilled(1, bound{verbs: 2})},
		"a backfill, two verbs and a crash":     {backfilled(1, bound{verbs: 2, crashes: 1}), backfilled(1, bound{verbs: 1, crashes: 1})},
		"a backfill by two scanners and a verb": {backfilled(2, bound{verbs: 1}), backfilled(1, bound{verbs: 1})},
		"a backfill, a cancel and a verb":       {init: backfilled(1, bound{verbs: 1, cancels: 1})},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && row.short != (state{}) {
				row.init = row.short
			}
			got := model{}.explore(row.init, 3_000_000)
			if got.violation != "" {
				t.Fatal(got)
			}
			t.Logf("%d states, %d steps", got.states, got.steps)
		})
	}
}

// TestEachRuleOfWhatMovesIsNeeded drops one rule at a time, as TestEachRuleIsNeeded does.
func TestEachRuleOfWhatMovesIsNeeded(t *testing.T) {
	const older violation = "an execution of an older life began after a verb was acknowledged"
	for name, row := range map[string]struct {
		rules rules
		init  state
		finds violation
	}{
		"no edit between a switch-over and its moment":  {rules{editBetween: true}, start(bound{scanners: 1, laters: 1, verbs: 1}), older},
		"a switch-over carries what was made before it": {rules{switchCarriesNot: true}, start(bound{scanners: 1, laters: 1}), lost},
		"a switch-over waits for the times before it":   {rules{switchEarly: true}, start(bound{scanners: 1, laters: 1}), lost},
		"a sweep sets the cursor into the past":         {rules{cursorOnlyAhead: true}, lacking(bound{scanners: 1, sweeps: 1}), lost},
		"a sweep is an edit":                            {rules{sweepIsNoEdit: true}, start(bound{scanners: 1, sweeps: 1}), lost},
		"a sweep carries nothing that has not come":     {rules{sweepCarriesAhead: true}, start(bound{scanners: 1, sweeps: 1, verbs: 1}), older},
		"a backfill looks again at what has not begun":  {rules{onePosition: true}, backfilled(1, bound{verbs: 2}), lost},
		"a backfill sends again what it finds waiting":  {rules{noLookBack: true}, backfilled(1, bound{crashes: 1}), lost},
	} {
		t.Run(name, func(t *testing.T) {
			got := model{row.rules}.explore(row.init, 1_000_000)
			if got.violation != row.finds {
				t.Fatalf("want: %s; got %s", row.finds, got)
			}
			t.Log(got)
			if kept := (model{}).explore(row.init, 1_000_000); kept.violation != "" {
				t.Errorf("with the rule: %s", kept)
			}
		})
	}
}
