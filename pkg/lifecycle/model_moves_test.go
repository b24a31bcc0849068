package lifecycle_test

// What moves a job's times without being a plain edit: an edit that takes
// effect later (a switch-over), and a newer time zone database (a sweep). Both
// are edits to the claim rule; what is new is where they may set the cursor.

// What waits for its moment, and where that lies.
const (
	beforeNoon     uint8 = 1 + iota // the time belongs to the definition that waits
	fromNoon                        // the time belongs to the one that is there
	beforeNoonLate                  // beforeNoon, but the job stood still until past noon
)

// movesM is what such an edit leaves in the head. The zero value is a job that
// has the time and no definition that waits.
type movesM struct {
	lacks    uint8 // the schedule does not have the time
	waits    uint8 // a definition waits, with its moment
	lacking  uint8 // it does not have the time
	switched uint8 // the switch-over was made, with its moment
	lacked   uint8 // the definition before it did not have the time
	later    uint8 // epoch of the edit that left a definition waiting
	taken    uint8 // epoch of the switch-over
}

// wants reports whether the job as it is wants the time run.
func (h headM) wants() uint8 {
	switch {
	case h.waits == beforeNoon || h.waits == beforeNoonLate:
		return h.on &^ h.lacking
	case h.switched == fromNoon:
		return h.on &^ h.lacked
	}
	return h.on &^ h.lacks
}

// cursorFrom is where a cursor stands that is computed at a clock.
func (h headM) cursorFrom(clock uint8) uint8 {
	switch {
	case clock == 1:
		return 2
	case h.waits == beforeNoon:
		return 1 // at the switch-over
	}
	return 1 + h.lacks
}

// atSwitch reports whether the cursor has come to the switch-over.
func (h headM) atSwitch() bool {
	return h.waits == beforeNoon && h.cursor == 1 || h.waits > beforeNoon && h.cursor == 2
}

// refuses tells which verbs a head refuses because of a switch-over.
func (m model) refuses(h headM, v verbM) bool {
	if v.clock == 1 && (h.on == 1 && h.waits == beforeNoon || v.waits == beforeNoon) {
		return true // the scan comes first; and what was to wait for a moment that has passed
	}
	return v.verb != pause && h.switched == fromNoon && v.clock == 0 && !m.rules.editBetween
}

// switchOver is the second of the two edits, made by a scan that sees the cursor
// there. It carries every time up to its moment.
func (m model) switchOver(n *state) {
	h := &n.head
	h.epoch++
	h.edits |= 1 << h.epoch
	if h.waits == fromNoon && !m.rules.switchCarriesNot {
		h.carries |= 1 << h.epoch
	}
	h.lacked, h.lacks = h.lacks, h.lacking
	if h.waits == beforeNoon {
		h.cursor = 1 + h.lacks
	} else {
		h.cursor = 2
	}
	h.switched, h.taken = min(h.waits, fromNoon), h.epoch
	if h.waits == beforeNoonLate {
		h.switched = beforeNoon
	}
	h.waits, h.lacking = 0, 0
}

// misplaced reports whether a first attempt runs under the wrong side of a switch-over.
func (s *state) misplaced() bool {
	h, x := s.head, s.x
	switch h.switched {
	case beforeNoon:
		return x.epoch < h.taken && x.epoch >= h.later
	case fromNoon:
		return x.epoch >= h.taken
	}
	return false
}

// sweep is the walk of a new time zone database, at this one job: it reads the
// head and the clock, then writes on condition of both epoch and cursor.
func (m model) sweep(s *state, step emit) {
	n, w := *s, s.sweeps
	if w.at == 0 {
		if s.left.sweeps == 0 || s.head.on == 0 {
			return
		}
		for _, moves := range []uint8{stays, goes, comes} {
			if n := *s; moves == stays || s.head.movable() && (moves == comes) == (s.head.lacks == 1) {
				n.left.sweeps--
				n.sweeps = sweepM{at: 1, moves: moves, epoch: s.head.epoch, cursor: s.head.cursor, clock: s.now}
				step("a sweep reads the head", true, n)
			}
		}
		return
	}
	n.sweeps = sweepM{}
	if s.head.epoch == w.epoch && s.head.cursor == w.cursor {
		m.retime(&n, w)
	}
	step("a sweep writes the head, or loses", false, n)
}

// movable reports whether the time is one of the schedule that the sweep looks at.
func (h headM) movable() bool {
	return h.waits != beforeNoon && h.waits != beforeNoonLate && h.switched != fromNoon
}

// What a newer database does to the time. Where it stays, another one moves.
const (
	stays uint8 = iota
	goes
	comes
)

type sweepM struct{ at, moves, epoch, cursor, clock uint8 }

// retime is the sweep's write: an edit whose cursor goes to the first time that
// has not come, and over what was made ahead.
func (m model) retime(n *state, w sweepM) {
	h := &n.head
	found := w.cursor == 1
	h.epoch++
	h.edits |= 1 << h.epoch
	if !found && (w.clock == 1 || m.rules.sweepCarriesAhead && w.moves == stays) {
		h.carries |= 1 << h.epoch
	}
	switch w.moves {
	case stays:
		if h.movable() && w.clock == 0 && !m.rules.sweepCarriesAhead {
			h.cursor = 1 + h.lacks
		}
	case goes:
		h.lacks, h.cursor = 1, 2
		if w.clock == 0 || found { // what had come and was passed on still counts
			n.owed = 0
		}
	case comes:
		h.lacks, h.cursor = 0, 1
		if n.now == 1 {
			n.owed, n.excused = 1, 0
		}
		if m.rules.cursorOnlyAhead && w.clock == 1 {
			h.cursor = 2
		}
	}
	if m.rules.sweepIsNoEdit {
		h.edits &^= 1 << h.epoch
		h.runsFrom = h.epoch
	}
}

// editLater begins an edit that is to take effect before noon, or from noon on.
func (m model) editLater(s *state, step emit) {
	for _, waits := range []uint8{beforeNoon, fromNoon} {
		for _, lacking := range []uint8{0, 1} {
			if n := *s; s.left.laters > 0 && (waits == fromNoon || s.now == 0) {
				n.left.laters--
				n.verb = verbM{at: 1, verb: editLater, epoch: s.head.epoch, clock: s.now, waits: waits, lacking: lacking}
				step("a person begins an edit that takes effect later", true, n)
			}
		}
	}
}
