package lifecycle_test

import (
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

const maxReceives = 2 // of the model's queue; more only repeats

// model is the world with its rules.
type model struct{ rules rules }

// emit takes one possible step: what happened, whether it is a fault (which no
// duty may depend on), and the state after it.
type emit func(what string, fault bool, to state)

// next tells all steps that are possible in s.
func (m model) next(s *state, out emit) {
	step := func(what string, fault bool, to state) { out(what, fault, m.arrive(s, to)) }
	m.queue(s, step)
	for i := range s.left.scanners {
		m.scan(s, int(i), step)
	}
	for i := range s.fill.scanners {
		m.backfill(s, int(i), step)
	}
	m.sweep(s, step)
	m.person(s, step)
	for i := range s.workers {
		if i == 0 || s.workers[1] != s.workers[0] { // two idle workers are the same worker
			m.worker(s, i, step)
		}
	}
	m.wakeScan(s, step)
	m.redrive(s, step)
}

// queue is time itself and what the queue does by itself.
func (m model) queue(s *state, step emit) {
	if n := *s; s.now == 0 {
		n.now, n.owed = 1, s.head.wants()
		step("the scheduled time comes", false, n)
	}
	if n := *s; s.x.st == retryWait && s.x.ready == 0 {
		n.x.ready = 1
		step("the back-off ends", false, n)
	}
	if s.x.st == run && s.x.live == 1 {
		w := s.workers[s.x.owner-1]
		alive := (w.at == working || w.at == handingOff) && w.token == s.x.attempt
		if n := *s; !alive || s.left.freezes > 0 {
			n.x.live = 0
			if alive {
				n.left.freezes--
			}
			step("the lease passes", alive, n)
		}
	}
	for i, l := range s.letters {
		n := *s
		switch {
		case l.st == inFlight && s.workers[l.holder-1].letter != uint8(i+1):
			n.letters[i].st, n.letters[i].holder = visible, 0
			step("a message returns", false, n)
		case l.st == inFlight && s.left.freezes > 0:
			n.letters[i].st, n.letters[i].holder = visible, 0
			n.left.freezes--
			step("a message returns although its bearer lives", true, n)
		case l.st == visible && l.receives >= maxReceives:
			n.letters[i] = letterM{st: deadLettered, epoch: l.epoch}
			for w := range n.workers {
				if n.workers[w].letter == uint8(i+1) {
					n.workers[w].letter = 0
				}
			}
			step("a message is dead-lettered", false, n)
		}
		if n := *s; l.st == visible && s.left.dups > 0 && n.send(l.epoch, l.isolated) {
			n.left.dups--
			step("the queue duplicates a message", true, n)
		}
	}
}

// scan is one scanner: read the head, put, send, advance, tidy up.
func (m model) scan(s *state, i int, step emit) {
	n, c := *s, s.scans[i]
	switch c.at {
	case 0:
		switch h := s.head; {
		case h.on == 0 || i > 0 && s.scans[0].at == 0:
		case h.atSwitch() || m.rules.switchEarly && h.waits == fromNoon:
			n.scans[i] = scanM{at: 5, epoch: h.epoch}
			step("a scanner sees the cursor at a switch-over", false, n)
		case h.cursor == 1:
			n.scans[i] = scanM{at: 1, epoch: h.epoch}
			step("a scanner reads the head", false, n)
		}
		return
	case 1:
		switch x := s.x; {
		case x.st == absent || x.attempt == 0 && x.epoch < c.epoch && (x.st == scheduled || x.st == withdrawn):
			n.clearWake()
			n.x = execM{st: scheduled, epoch: c.epoch}
			n.scans[i].at, n.scans[i].made = 2, 1
		case x.st == scheduled && x.epoch == c.epoch && !m.rules.noSendAgain:
			n.scans[i].at = 2
		default:
			n.scans[i].at = 3
		}
		step("a scanner puts the execution, or finds it", false, n)
	case 2:
		if n.send(c.epoch, 0) {
			n.scans[i].at = 3
			step("a scanner sends the message", false, n)
		}
	case 3:
		n.scans[i] = scanM{}
		switch {
		case s.head.on == 1 && s.head.epoch == c.epoch && s.head.cursor == 1:
			n.head.cursor = 2
		case s.head.epoch != c.epoch && c.made == 1:
			n.scans[i] = scanM{at: 4, epoch: c.epoch}
		}
		step("a scanner advances the cursor, or loses", false, n)
	case 4:
		n.scans[i] = scanM{}
		if s.x.st == scheduled && s.x.epoch == c.epoch && !s.mayBegin(c.epoch) {
			n.apply(lifecycle.WithdrawnBy(s.clock(), "scan", lifecycle.Superseded))
		}
		step("a scanner tidies up", false, n)
	case 5:
		n.scans[i] = scanM{}
		if s.head.epoch == c.epoch && s.head.waits != 0 {
			m.switchOver(&n)
		}
		step("a scanner switches over, or loses", false, n)
	}
	if n := *s; s.left.crashes > 0 {
		n.left.crashes--
		n.scans[i] = scanM{}
		step("a scanner dies", true, n)
	}
}

// wakeScan reads an execution with a wake-up, sends, and removes the wake-up.
func (m model) wakeScan(s *state, step emit) {
	n := *s
	switch s.wake.at {
	case 0:
		if s.x.wake == 0 || s.x.st == run && s.x.live == 1 || s.x.st == retryWait && s.x.ready == 0 {
			return
		}
		n.wake = wakeM{at: 1, epoch: s.x.epoch, fresh: 1}
		if ended(s.x.st) || s.x.st == withdrawn {
			n.wake.at = 2
		}
		step("the wake scan reads the execution", false, n)
		return
	case 1:
		if n.send(s.wake.epoch, 0) {
			n.wake.at = 2
			step("the wake scan sends a message", false, n)
		}
	case 2:
		if s.wake.fresh == 1 || m.rules.noWakeVersion {
			n.clearWake()
		}
		n.wake = wakeM{}
		step("the wake scan removes the wake-up, unless it is a newer one", false, n)
	}
	if n := *s; s.left.crashes > 0 {
		n.left.crashes--
		n.wake = wakeM{}
		step("the wake scan dies", true, n)
	}
}

// redrive is the dead-letter consumer.
func (m model) redrive(s *state, step emit) {
	n := *s
	switch s.dlq.at {
	case 0:
		for i, l := range s.letters {
			if n := *s; l.st == deadLettered {
				n.letters[i].st, n.dlq = redriving, dlqM{1, uint8(i + 1)}
				step("the dead-letter consumer takes a message", false, n)
				return
			}
		}
		return
	case 1:
		d := lifecycle.DecideDeadLetter(m.facts(s, s.letters[s.dlq.letter-1].epoch, 0, false))
		switch d.Act {
		case lifecycle.Delete:
		case lifecycle.Close:
			n.apply(d.Transition)
		case lifecycle.Rewake:
			n.setWake()
			n.x.redrives = 1
		case lifecycle.Hide, lifecycle.Own, lifecycle.Claim, lifecycle.Isolate:
			n.wrong = "an act that is not the dead-letter consumer's"
		}
		n.dlq.at = 2
		step("the dead-letter consumer decides: "+string(d.Act), false, n)
	case 2:
		n.letters[s.dlq.letter-1], n.dlq = letterM{}, dlqM{}
		step("the dead-letter consumer deletes the message", false, n)
	}
	if n := *s; s.left.crashes > 0 {
		n.left.crashes--
		n.letters[s.dlq.letter-1].st, n.dlq = deadLettered, dlqM{}
		step("the dead-letter consumer dies", true, n)
	}
}

// facts are what the real rules are asked about.
func (m model) facts(s *state, epoch, isolated uint8, may bool) lifecycle.Facts {
	f := lifecycle.Facts{Message: lifecycle.Message{Key: job.ScheduledKey(noon), Epoch: int64(epoch), Isolated: isolated == 1}, Item: s.execution(),
		Nonce: "mine", MayBegin: may || m.rules.noEpoch, Retry: m.rules.retry(), Now: s.clock(), Epsilon: epsilon}
	if m.rules.noMessage && f.Item != nil {
		f.Message.Epoch = f.Item.Epoch
	}
	if m.rules.leaseIgnored && f.Item != nil && f.Item.Status == job.Running {
		f.Item.Lease.Until = noon.AddDate(-1, 0, 0)
	}
	return f
}
