package lifecycle_test

import (
	"cmp"
	"slices"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// This model is one scheduled time of one job, with all who touch it: scanners,
// a person's verbs, workers, the queue and its dead letters, the wake scan. Each
// step is one call that a process can die after. What to do is asked of the real
// rules (MayBegin, Decide, DecideDeadLetter, AfterFailure and the transitions);
// the model only carries it out, as the store and the queue would.

// rules switches single rules off, to see that each is needed.
type rules struct {
	noEpoch       bool // a claim does not ask the claim rule
	noMessage     bool // a claim compares the item's epoch with the head's alone
	noWakeVersion bool // the wake scan removes whatever wake-up it finds
	deleteLeased  bool // a message of what somebody runs is deleted
	deleteLost    bool // a worker that lost its lease deletes its message
	noToken       bool // a settle asks for the status alone
	noSendAgain   bool // a scanner that finds its execution does not send
	noWithdraw    bool // a verb is acknowledged without its clean-up
	leaseIgnored  bool // every lease counts as passed

	editBetween       bool // an edit is allowed between a switch-over and its moment
	switchCarriesNot  bool // a switch-over carries nothing
	switchEarly       bool // a scan switches over before it has passed the times of the revision before
	cursorOnlyAhead   bool // a sweep sets no cursor into the past
	sweepIsNoEdit     bool // a sweep raises the epoch as a resume does
	sweepCarriesAhead bool // a sweep carries what was made ahead and stays
	onePosition       bool // a backfill is done once it has passed a time
	noLookBack        bool // a backfill does not send again what it finds waiting
	maxLost           int  // attempts whose worker may be lost; zero = 2
}

// bound is how much of each may still happen.
type bound struct{ scanners, verbs, crashes, freezes, dups, cancels, handOffs, longWaits, laters, sweeps uint8 }

// Statuses of the model; absent is none of lifecycle's.
const (
	absent uint8 = iota
	scheduled
	withdrawn
	run
	retryWait
	succeeded
	dead
	failedForGood
	canceled
)

var statusOf = []job.Status{absent: "", scheduled: job.Scheduled, withdrawn: job.Withdrawn, run: job.Running, retryWait: job.RetryWait,
	succeeded: job.Succeeded, dead: job.Dead, failedForGood: job.Failed, canceled: job.Canceled}

func ended(st uint8) bool { return st > retryWait }

// States of a message.
const (
	none uint8 = iota
	visible
	inFlight
	deadLettered
	redriving
)

type (
	headM struct {
		on, epoch, runsFrom, cursor, edits, carries uint8 // cursor 1 = the time, 2 = past it; bits by epoch
		movesM
	}
	execM   struct{ st, epoch, attempt, lost, owner, live, ready, wake, cancel, redrives uint8 }
	letterM struct{ st, holder, handles, receives, epoch, isolated uint8 }
	workerM struct{ at, letter, epoch, isolated, token, may uint8 }
	scanM   struct{ at, epoch, made uint8 }
	wakeM   struct{ at, epoch, fresh uint8 }
	dlqM    struct{ at, letter uint8 }
	verbM   struct{ at, verb, epoch, clock, found, withdraws, waits, lacking uint8 }
)

const slots = 3

// state is one moment of the model's world.
type state struct {
	now     uint8 // 0: before the scheduled time, 1: after it
	head    headM
	x       execM
	letters [slots]letterM
	workers [2]workerM
	scans   [2]scanM
	wake    wakeM
	dlq     dlqM
	verb    verbM
	sweeps  sweepM
	fill    fillM
	fillers [2]fillerM
	left    bound
	owed    uint8 // the job wants the time run ...
	excused uint8 // ... unless a pause came between
	gap     uint8 // ... or the time is recorded as passed over
	forbid  uint8 // acknowledged: nothing of an older epoch begins
	wrong   violation
}

type violation string

func (s *state) clock() time.Time {
	if s.now == 0 {
		return noon.Add(-10 * time.Second)
	}
	return noon.Add(10 * time.Minute)
}

// retry allows two answered attempts and two lost ones.
func (r rules) retry() job.Retry {
	return job.Retry{MaxAttempts: 2, Base: job.Duration(time.Second), Max: job.Duration(time.Second), MaxAge: job.Duration(time.Hour), MaxLost: cmp.Or(r.maxLost, 2)}
}

// execution is the stored item as the real rules see it.
func (s *state) execution() *job.Execution {
	x := s.x
	if x.st == absent {
		return nil
	}
	e := &job.Execution{Backfill: s.fill.id(), Key: job.ScheduledKey(noon), Epoch: int64(x.epoch), Status: statusOf[x.st], Attempt: int(x.attempt), Lost: int(x.lost),
		FencingToken: int64(x.attempt), AvailableAt: noon, Schema: job.Schema, Redrives: lifecycle.MaxRedrives - 1 + int(x.redrives)}
	beforeOrAfter := func(is uint8) time.Time { return s.clock().Add(time.Duration(int(is)*2-1) * time.Minute) }
	switch x.st {
	case run:
		e.Lease = job.Lease{Owner: "w", Nonce: "theirs", Until: beforeOrAfter(x.live)}
	case retryWait:
		e.AvailableAt = beforeOrAfter(1 - x.ready)
	}
	if x.cancel == 1 {
		e.Cancel = &job.Cancel{By: "ada"}
	}
	return e
}

// mayBegin asks the claim rule about the life of that epoch, on the head as it is.
func (s *state) mayBegin(epoch uint8) bool {
	return lifecycle.MayBegin(&job.Head{Epoch: int64(s.head.epoch), RunsFrom: int64(s.head.runsFrom)}, int64(epoch), noon, s.carryUntil(epoch))
}

// carryUntil is the bound that the first edit after an epoch wrote.
func (s *state) carryUntil(epoch uint8) time.Time {
	for e := epoch + 1; e <= s.head.epoch; e++ {
		if s.head.edits>>e&1 == 0 {
			continue
		}
		if s.head.carries>>e&1 == 1 {
			return noon
		}
		return noon.Add(-time.Second)
	}
	return time.Time{}
}

// apply writes a transition, as the store does.
func (s *state) apply(t lifecycle.Transition) {
	if !slices.Contains(t.From(), statusOf[s.x.st]) {
		s.wrong = "a transition is applied to a status that it does not come from"
		return
	}
	s.x.st = uint8(slices.Index(statusOf, t.To()))
	s.x.owner, s.x.live, s.x.ready = 0, 0, 0
	if t.Ends() || t.To() == job.Withdrawn {
		s.clearWake()
	}
}

// A new version makes what the wake scan has read stale.
func (s *state) setWake() { s.x.wake, s.wake.fresh = 1, 0 }

func (s *state) clearWake() {
	if s.x.wake != 0 {
		s.x.wake, s.wake.fresh = 0, 0
	}
}

// send puts a message into a free slot; false when all are taken.
func (s *state) send(epoch, isolated uint8) bool {
	for i := range s.letters {
		if s.letters[i].st == none {
			s.letters[i] = letterM{st: visible, epoch: epoch, isolated: isolated}
			return true
		}
	}
	return false
}

// brokenArrow checks what one step did to the execution.
func brokenArrow(a, b execM) violation {
	switch {
	case b.epoch < a.epoch, a.attempt > 0 && b.epoch != a.epoch && !ended(b.st):
		return "what has begun is under another epoch"
	case b.attempt < a.attempt && !ended(b.st):
		return "an attempt was taken back"
	case a.st == b.st:
		return ""
	case a.st == absent && b.st == scheduled, a.st == withdrawn && b.st == scheduled && b.epoch > a.epoch:
		return ""
	case a.st == withdrawn, a.st == absent, !lifecycle.Allowed(lifecycle.ExecutionArrows, statusOf[a.st], statusOf[b.st]):
		return violation("a forbidden arrow: " + statusOf[a.st] + " → " + statusOf[b.st])
	}
	return ""
}

// forget takes out of s what can only be deleted or lost any more, since to
// explore in which order that happens takes most of the states and shows
// nothing: void messages with those who bear them (that each is deleted is shown
// by TestWhatAWorkerDoesFollowsTheRules), and all details of what has ended.
func (s *state) forget(r rules) {
	for i, l := range s.letters {
		if l.st == none || !ended(s.x.st) && (s.x.epoch <= l.epoch && s.x.st != withdrawn || r.noMessage) {
			continue
		}
		s.letters[i] = letterM{}
		for w := range s.workers {
			if s.workers[w].letter == uint8(i+1) {
				s.workers[w] = workerM{}
			}
		}
		if s.dlq.letter == uint8(i+1) {
			s.dlq = dlqM{}
		}
	}
	if ended(s.x.st) {
		s.x = execM{st: s.x.st, epoch: s.x.epoch, wake: s.x.wake}
		s.workers, s.wake = [2]workerM{}, wakeM{}
	}
}

// arrive checks the step from old to s and brings s into its normal form.
func (m model) arrive(old *state, s state) state {
	if s.wrong == "" {
		s.wrong = brokenArrow(old.x, s.x)
	}
	s.forget(m.rules)
	order := []uint8{0, 1, 2}
	slices.SortStableFunc(order, func(i, j uint8) int { return compareLetters(s.letters[i], s.letters[j]) })
	if order[0] == 0 && order[1] == 1 {
		return s
	}
	letters := s.letters
	for to, from := range order {
		s.letters[to] = letters[from]
	}
	moved := func(letter uint8) uint8 {
		if letter == 0 {
			return 0
		}
		return uint8(slices.Index(order, letter-1)) + 1
	}
	for i := range s.workers {
		s.workers[i].letter = moved(s.workers[i].letter)
	}
	s.dlq.letter = moved(s.dlq.letter)
	return s
}

func compareLetters(a, b letterM) int {
	return cmp.Or(cmp.Compare(b.st, a.st), cmp.Compare(a.holder, b.holder), cmp.Compare(a.handles, b.handles), cmp.Compare(a.receives, b.receives),
		cmp.Compare(a.epoch, b.epoch), cmp.Compare(a.isolated, b.isolated))
}

// discharged reports whether nothing is left to do and every duty is done.
func (s *state) discharged() bool {
	if s.now == 0 || s.verb != (verbM{}) || s.sweeps != (sweepM{}) || s.head.on == 1 && s.head.atSwitch() || !s.filled() || s.wake.at != 0 || s.dlq != (dlqM{}) || s.workers != [2]workerM{} || s.scans != [2]scanM{} ||
		s.letters != [slots]letterM{} || s.head.on == 1 && s.head.cursor == 1 || s.x.wake != 0 {
		return false
	}
	superseded := s.x.st == scheduled && !s.mayBegin(s.x.epoch)
	void := s.x.st == absent || s.x.st == withdrawn || superseded
	if s.owed == 1 && void && s.fill.at > 0 {
		return s.head.on == 0 // it goes on when the job does
	}
	if s.owed == 1 && void {
		return s.gap == 1 || s.excused == 1
	}
	return void || ended(s.x.st)
}
