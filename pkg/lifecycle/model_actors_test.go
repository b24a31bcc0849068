package lifecycle_test

import (
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// Where a worker is with its message.
const (
	idle uint8 = iota
	received
	headRead
	working
	handingOff
	sendsSuccessor
	deletes
	hides
)

// The verbs.
const (
	pause uint8 = iota
	resume
	edit
	editLater
)

// person is whoever pauses, resumes, edits and cancels. That a verb begins
// counts as a fault: no duty may wait for it.
func (m model) person(s *state, step emit) {
	n, v := *s, s.verb
	switch v.at {
	case 0:
		for _, verb := range []uint8{pause, resume, edit} {
			if s.left.verbs > 0 && (verb == edit || (verb == pause) == (s.head.on == 1)) {
				n := *s
				n.left.verbs--
				n.verb = verbM{at: 1, verb: verb, epoch: s.head.epoch, clock: s.now}
				step("a person begins a verb", true, n)
			}
		}
		m.editLater(s, step)
		m.cancel(s, step)
		return
	case 1:
		if s.head.epoch != v.epoch { // the head that it read is no more: it reads again
			n.verb.epoch, n.verb.clock = s.head.epoch, s.now
			step("the verb loses, and reads the head again", false, n)
			break
		}
		if m.refuses(s.head, v) || (v.verb == pause || v.verb == resume) && (v.verb == pause) != (s.head.on == 1) {
			n.verb = verbM{}
			step("the verb is refused", false, n)
			break
		}
		m.changeHead(&n)
		step("the verb changes the head", false, n)
	case 2:
		n.verb.at = 3
		if s.x.st == scheduled && s.x.epoch < s.head.epoch && !s.mayBegin(s.x.epoch) && !m.rules.noWithdraw {
			n.verb.withdraws = 1
		}
		step("the verb looks for what has not begun", false, n)
	case 3:
		if v.withdraws == 1 && s.x.st == scheduled && s.x.epoch < v.epoch {
			n.apply(lifecycle.WithdrawnBy(s.clock(), "control", lifecycle.Superseded))
		}
		if v.withdraws == 1 {
			n.verb.withdraws = 0
			step("the verb withdraws it", false, n)
			break
		}
		if v.verb < edit || v.clock == 0 || v.found == 1 { // an edit forbids what it did not carry
			n.forbid = max(s.forbid, v.epoch)
		}
		n.verb = verbM{}
		step("the verb is acknowledged", false, n)
	}
	if n := *s; v.at > 1 && s.left.crashes > 0 {
		n.left.crashes--
		n.verb = verbM{}
		step("the verb dies unacknowledged", true, n)
	}
}

// changeHead is the verb's compare-and-set, with what it means for the time:
// one at or before the verb's clock belongs to the old life, a later one is
// judged anew.
func (m model) changeHead(n *state) {
	v, old := &n.verb, n.head
	n.head.epoch++
	v.at, v.epoch = 2, n.head.epoch
	if old.on == 1 && old.cursor == 1 {
		v.found = 1
		if v.clock == 1 {
			n.gap = 1
		}
	}
	switch v.verb {
	case pause:
		n.head.on, n.head.cursor, n.head.runsFrom = 0, 2, n.head.epoch
	case resume:
		n.head.on, n.head.cursor, n.head.runsFrom = 1, n.head.cursorFrom(v.clock), n.head.epoch
		if v.clock == 1 && n.head.waits == beforeNoon {
			n.head.waits = beforeNoonLate
		}
	case edit, editLater:
		n.head.movesM = movesM{lacks: old.lacks, waits: v.waits, lacking: v.lacking}
		if v.verb == editLater {
			n.head.later = n.head.epoch
		}
		n.head.edits |= 1 << n.head.epoch
		if v.clock == 1 && v.found == 0 {
			n.head.carries |= 1 << n.head.epoch
		}
		if old.on == 1 {
			n.head.cursor = n.head.cursorFrom(v.clock)
		}
	}
	switch {
	case v.clock == 1 && v.verb == pause && n.owed == 1:
		n.excused = 1
	case v.clock == 0 && n.now == 1:
		n.owed, n.excused = n.head.wants(), 0
	}
}

// cancel ends what does not run, and asks what runs to stop.
func (m model) cancel(s *state, step emit) {
	n := *s
	if s.left.cancels == 0 {
		return
	}
	n.left.cancels--
	switch s.x.st {
	case scheduled, retryWait:
		n.apply(lifecycle.CanceledBy(s.clock(), "ada"))
	case run:
		n.x.cancel = 1
	default:
		return
	}
	step("a person cancels", true, n)
}

// leave makes worker i idle; its message becomes visible if it still holds it.
func (s *state) leave(i int) {
	if at := s.workers[i].letter; at > 0 {
		l := &s.letters[at-1]
		l.handles &^= 1 << i
		if l.st == inFlight && l.holder == uint8(i+1) {
			l.st, l.holder = visible, 0
		}
	}
	s.workers[i] = workerM{}
}

// deletesLetter emits the deletion of worker i's message, then the state that
// after makes of it. A handle that is no longer the last may or may not work.
func (m model) deletesLetter(s *state, i int, after func(n *state), step emit) {
	at := s.workers[i].letter
	if at == 0 {
		n := *s
		after(&n)
		step("a worker has no message left", false, n)
		return
	}
	if l := s.letters[at-1]; l.holder != uint8(i+1) {
		n := *s
		n.letters[at-1].handles &^= 1 << i
		n.workers[i].letter = 0
		after(&n)
		step("a worker's old handle deletes nothing", false, n)
	}
	n := *s
	n.letters[at-1] = letterM{}
	for w := range n.workers {
		if n.workers[w].letter == at {
			n.workers[w].letter = 0
		}
	}
	after(&n)
	step("a worker deletes its message", false, n)
}

// worker is one worker: receive, read the head, decide, run, settle.
func (m model) worker(s *state, i int, step emit) {
	n, w := *s, s.workers[i]
	switch w.at {
	case idle:
		for j, l := range s.letters {
			if n := *s; l.st == visible && l.receives < maxReceives && s.now == 1 && (j == 0 || s.letters[j-1] != l) {
				n.letters[j].st, n.letters[j].holder = inFlight, uint8(i+1)
				n.letters[j].handles |= 1 << i
				n.letters[j].receives++
				n.workers[i] = workerM{at: received, letter: uint8(j + 1), epoch: l.epoch, isolated: l.isolated}
				step("a worker receives a message", false, n)
			}
		}
		return
	case received:
		n.workers[i].at = headRead
		if s.mayBegin(w.epoch) {
			n.workers[i].may = 1
		}
		if m.rules.noMessage {
			n.workers[i].may = s.head.epoch
		}
		step("a worker reads the head", false, n)
	case headRead:
		m.decide(s, i, step)
	case working:
		m.settle(s, i, step)
	case handingOff:
		m.deletesLetter(s, i, func(n *state) { n.workers[i].at, n.workers[i].letter = working, 0 }, step)
	case sendsSuccessor:
		if n.workers[i].at = deletes; !n.send(w.epoch, 1) {
			n.workers[i].at = hides // as when the queue refuses it
		}
		step("a worker sends a successor to the isolation queue", false, n)
	case deletes:
		m.deletesLetter(s, i, func(n *state) { n.workers[i] = workerM{} }, step)
	case hides:
		n.leave(i)
		step("a worker hides its message", false, n)
	}
	if n := *s; s.left.crashes > 0 {
		n.left.crashes--
		n.leave(i)
		step("a worker dies", true, n)
	}
}

// decide carries out what lifecycle.Decide says.
func (m model) decide(s *state, i int, step emit) {
	n, w := *s, s.workers[i]
	may := w.may == 1
	if m.rules.noMessage {
		may = w.may == s.x.epoch
	}
	d := lifecycle.Decide(m.facts(s, w.epoch, w.isolated, may))
	n.workers[i].may = 0
	switch d.Act {
	case lifecycle.Delete:
		n.workers[i].at = deletes
	case lifecycle.Isolate:
		n.workers[i].at = sendsSuccessor
	case lifecycle.Close:
		n.apply(d.Transition)
		n.workers[i].at = deletes
	case lifecycle.Hide:
		n.workers[i].at = hides
		if m.rules.deleteLeased && s.x.st == run {
			n.workers[i].at = deletes
		}
	case lifecycle.Claim:
		n.take(s, i)
	case lifecycle.Own, lifecycle.Rewake:
		n.wrong = "an act that cannot be here"
	}
	step("a worker decides: "+string(d.Act), false, n)
}

// take is the claim, with what must never be claimed.
func (s *state) take(before *state, i int) {
	x := before.x
	switch {
	case x.attempt == 0 && x.epoch < before.forbid:
		s.wrong = "an execution of an older life began after a verb was acknowledged"
	case x.st == run && x.live == 1:
		s.wrong = "a live lease was taken over"
	case x.cancel == 1:
		s.wrong = "a canceled execution was claimed"
	case x.attempt == 0 && before.misplaced():
		s.wrong = "an execution ran under the wrong side of a switch-over"
	}
	s.x.st, s.x.attempt, s.x.owner, s.x.live, s.x.ready = run, x.attempt+1, uint8(i+1), 1, 0
	if x.st == run {
		s.x.lost++
	}
	s.workers[i].at, s.workers[i].token = working, s.x.attempt
}

// settle is the end of an attempt: success, or a failure that the real rule
// turns into a retry or an end; or a hand-off before it.
func (m model) settle(s *state, i int, step emit) {
	n, w := *s, s.workers[i]
	owns := s.x.st == run && s.x.owner == uint8(i+1) && s.x.attempt == w.token
	if !owns && (!m.rules.noToken || s.x.st != run) {
		n.workers[i].at = hides
		if m.rules.deleteLost {
			n.workers[i].at = deletes
		}
		step("a worker finds its lease lost", false, n)
		return
	}
	if !owns {
		n.wrong = "a worker without the lease settled"
	}
	n.apply(lifecycle.Settled(s.clock(), "w"))
	n.workers[i].at, n.workers[i].token = deletes, 0
	step("a worker settles a success", false, n)

	t := lifecycle.AfterFailure(s.execution(), m.rules.retry(), lifecycle.Failure{Class: lifecycle.Transient}, "w", s.clock(), 0.5)
	n = *s
	n.apply(t)
	n.workers[i].at, n.workers[i].token = deletes, 0
	if t.To() == job.RetryWait && w.letter > 0 {
		n.workers[i].at = hides
	}
	if t.To() == job.RetryWait && w.letter == 0 { // handed off before: the wake-up is all there is
		n.setWake()
	}
	step("a worker settles a failure", false, n)
	if t.To() == job.RetryWait && s.left.longWaits > 0 {
		n.left.longWaits--
		n.setWake()
		n.workers[i].at = deletes
		step("a worker settles a failure with a long wait", true, n)
	}
	if n := *s; s.left.handOffs > 0 && w.letter > 0 && owns {
		n.left.handOffs--
		n.setWake()
		n.workers[i].at = handingOff
		step("a worker writes a wake-up to hand off", true, n)
	}
}
