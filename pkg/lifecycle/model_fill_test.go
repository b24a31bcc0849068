package lifecycle_test

import (
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// A backfill of the one time, which has passed: a cursor that goes over it, and
// a second position that follows once it has begun. The decision is the real rule's.

// Positions of a backfill.
const (
	aheadOf uint8 = 1 + iota // its cursor stands before the time
	behind                   // past it; it has not begun yet
	done
)

type (
	fillM   struct{ at, scanners uint8 }
	fillerM struct{ at, seen, epoch, runsFrom, act uint8 }
)

const theBackfill = "b"

func (f fillM) id() string {
	if f.at == 0 {
		return ""
	}
	return theBackfill
}

// filled reports whether the backfill has nothing left to do now.
func (s *state) filled() bool {
	return s.fillers == [2]fillerM{} && (s.fill.at == 0 || s.fill.at == done || s.head.on == 0)
}

// What a scanner does next with the time.
const (
	passes uint8 = 1 + iota
	waits
	makes
	sendsAgain
)

// backfill is one scanner at the backfill: read it, the head, what stands there;
// put, send, and only then write how far that went.
func (m model) backfill(s *state, i int, step emit) {
	n, f := *s, s.fillers[i]
	switch f.at {
	case 0:
		if s.fill.at == done || i > 0 && s.fillers[0].at == 0 {
			return
		}
		n.fillers[i] = fillerM{at: 1, seen: s.fill.at}
		step("a scanner reads the backfill", false, n)
		return
	case 1:
		n.fillers[i].at, n.fillers[i].epoch, n.fillers[i].runsFrom = 2, s.head.epoch, s.head.runsFrom
		if s.head.on == 0 {
			n.fillers[i] = fillerM{}
		}
		step("a backfill's scanner reads the head", false, n)
	case 2:
		n.fillers[i].at, n.fillers[i].act = 3, m.judge(s, f)
		step("a backfill's scanner decides", false, n)
	case 3:
		m.putFilling(&n, i)
		step("a backfill's scanner puts the execution", false, n)
	case 4:
		if n.send(f.epoch, 0) {
			n.fillers[i].at = 5
			step("a backfill's scanner sends the message", false, n)
		}
	case 5:
		n.fillers[i] = fillerM{}
		if s.fill.at == f.seen {
			n.fill.at = behind
			if f.act == passes || m.rules.onePosition {
				n.fill.at = done
			}
		}
		step("a backfill's scanner writes how far it came", false, n)
	}
	if n := *s; s.left.crashes > 0 {
		n.left.crashes--
		n.fillers[i] = fillerM{}
		step("a backfill's scanner dies", true, n)
	}
}

// judge asks the real rule, with the head as it was read.
func (m model) judge(s *state, f fillerM) uint8 {
	head := &job.Head{Epoch: int64(f.epoch), RunsFrom: int64(f.runsFrom)}
	d := lifecycle.DecideFill(lifecycle.FillFacts{Standing: lifecycle.Standing{Own: s.execution()}, Backfill: &job.Backfill{ID: theBackfill}, Head: head,
		At: noon, Now: s.clock(), Behind: f.seen == behind,
		Begins: func(e *job.Execution) bool {
			return lifecycle.MayBegin(head, e.Epoch, noon, s.carryUntil(uint8(e.Epoch)))
		}})
	switch {
	case d.Act == lifecycle.Fill:
		return makes
	case d.Act == lifecycle.Wait && !m.rules.noLookBack && (f.seen == aheadOf || !s.underWay()):
		return sendsAgain
	case d.Act == lifecycle.Wait:
		return waits
	}
	return passes
}

// underWay reports whether a message may bear the execution still. Before it looks
// back a backfill waits until that is most unlikely.
func (s *state) underWay() bool {
	for _, l := range s.letters {
		if l.st != none && l.epoch == s.x.epoch {
			return true
		}
	}
	return false
}

// putFilling is the put on its usual condition. A newer life that has not begun
// ends the round; what has begun meanwhile is left to itself.
func (m model) putFilling(n *state, i int) {
	f, x := &n.fillers[i], n.x
	f.at = 5
	switch {
	case f.act == sendsAgain:
		f.at = 4
		f.epoch = x.epoch
	case f.act != makes:
	case x.st == absent || x.attempt == 0 && x.epoch < f.epoch && (x.st == scheduled || x.st == withdrawn):
		n.clearWake()
		n.x = execM{st: scheduled, epoch: f.epoch}
		f.at = 4
	case x.attempt == 0 && x.epoch > f.epoch:
		*f = fillerM{}
	case x.st == scheduled && x.epoch == f.epoch:
		f.at = 4
	}
}
