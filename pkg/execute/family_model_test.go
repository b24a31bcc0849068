package execute_test

import "slices"

// This model is one execution that fans out into three children on two pages, with
// all who touch them: two attempts of the parent, of which the first may be frozen
// and go on beside the second; the bearers of messages, which may come twice; the
// execution that follows, and its wake-up. Each step is one call that a process can
// die after. What it says is checked in every interleaving.

const (
	kids  = 3 // 0 and 1 on page 0, 2 on page 1
	leafs = 2
)

func pageOf(kid uint8) uint8 { return kid / 2 }

var kidsOn = [leafs]uint8{0b011, 0b100}

// Where a message's bearer is.
const (
	noMessage uint8 = iota
	lies
	runs
	hasEnded  // the child has ended and is still on its page
	offPage   // it is off, and its page is empty
	lastPage  // that was the last page
	followPut // what follows is made and not sent
	finished  // the message may be deleted
)

// Where a parent's attempt is.
const (
	begins uint8 = iota
	opensPage
	putsKids
	sendsKids
	notesPage
	settles
	isGone
)

type parentM struct{ at, page, kid uint8 }

type familyM struct {
	kids     uint8 // children that there are to be
	parents  [2]parentM
	token    uint8 // of the attempt that holds the lease: 1 or 2; 3 = it has ended
	started  uint8
	made     uint8          // pages noted as made
	openings uint8          // pages that exist
	open     uint8          // open pages
	left     [leafs]uint8   // open children of each
	there    uint8          // children that exist
	ended    uint8          // and have ended
	letters  [kids][2]uint8 // messages of each
	follows  uint8          // 0 absent, 1 made, 2 ended
	followed [2]uint8       // its messages: 0 none, 1 lies
	wake     uint8
	crashes  uint8
	freezes  uint8
	wrong    string
}

// familyRules switches single rules off, to see that each is needed.
type familyRules struct {
	leavesOnce   bool // what its end asks for is done by whoever ended it alone
	notesFirst   bool // a page is noted as made before its messages are sent
	noResend     bool // a child that is there is not sent again
	opensLate    bool // a page is opened after its children were sent
	pagesAppear  bool // the fan-out does not know its pages from the start
	settlesEarly bool // a parent may end well before its children are made
}

type familyStep func(what string, fault bool, to familyM)

func (r familyRules) next(s familyM, step familyStep) {
	for i := range s.parents {
		r.parent(s, i, step)
	}
	for kid := range uint8(kids) {
		for m := range s.letters[kid] {
			r.bearer(s, kid, m, step)
		}
	}
	for m := range s.followed {
		if n := s; s.followed[m] == 1 {
			n.followed[m] = 0
			if s.follows == 1 {
				n.follows = 2
				if s.ended != s.kids {
					n.wrong = "what follows began before all children had ended"
				}
			}
			step("what follows runs, and its message is deleted", false, n)
		}
	}
	if n := s; s.wake == 1 {
		n.wake = 0
		if s.follows == 1 && !n.sendFollow() {
			return
		}
		step("the wake scan sends what follows", false, n)
	}
}

func (s *familyM) sendFollow() bool {
	for m := range s.followed {
		if s.followed[m] == 0 {
			s.followed[m] = 1
			return true
		}
	}
	return false
}

// parent is one attempt of the parent.
func (r familyRules) parent(s familyM, i int, step familyStep) {
	p := s.parents[i]
	mine := s.token == uint8(i+1)
	n := s
	me := &n.parents[i]
	switch {
	case i == 1 && s.token < 2 || p.at == isGone:
		return
	case p.at == begins:
		if !mine {
			me.at = isGone
			step("a parent finds its lease lost", false, n)
			break
		}
		if s.started == 0 {
			n.started = 1
			if !r.pagesAppear {
				n.open = 1<<leafs - 1
			}
		}
		me.at = opensPage
		step("the parent starts the fan-out", false, n)
	default:
		r.page(s, i, step)
	}
	if n := s; s.crashes > 0 && p.at != isGone {
		n.crashes--
		n.parents[i].at = isGone
		if mine && i == 0 {
			n.token = 2
		} else if mine {
			n.parents[i] = parentM{} // the second begins anew: more attempts only repeat
		}
		step("a parent's attempt dies", true, n)
	}
	if n := s; s.freezes > 0 && mine && i == 0 {
		n.freezes--
		n.token = 2
		step("the parent's first attempt is frozen, and taken over", true, n)
	}
}

// page is what an attempt does page by page.
func (r familyRules) page(s familyM, i int, step familyStep) {
	n, p := s, s.parents[i]
	me := &n.parents[i]
	switch p.at {
	case opensPage:
		switch {
		case p.page == leafs:
			me.at = settles
		case s.made>>p.page&1 == 1:
			me.page++
		default:
			if !r.opensLate {
				n.opens(p.page, r.pagesAppear)
			}
			me.at, me.kid = putsKids, 0
		}
		step("a parent opens a page", false, n)
	case putsKids, sendsKids:
		kid := p.kid
		switch {
		case kid == kids || pageOf(kid) != p.page && kid > p.page*2:
			me.kid = 0
			if me.at++; r.notesFirst && p.at == putsKids {
				n.made |= 1 << p.page
			}
		case pageOf(kid) != p.page || s.kids>>kid&1 == 0:
			me.kid++
		case p.at == putsKids:
			n.there |= 1 << kid
			me.kid++
		default:
			me.kid++
			if s.ended>>kid&1 == 0 && (!r.noResend || i == 0) && !n.send(kid) {
				return
			}
		}
		step("a parent makes a child, or sends its message", false, n)
	case notesPage:
		if r.opensLate {
			n.opens(p.page, r.pagesAppear)
		}
		n.made |= 1 << p.page
		*me = parentM{at: opensPage, page: p.page + 1}
		step("a parent notes a page as made", false, n)
	case settles:
		me.at = isGone
		if s.token == uint8(i+1) {
			n.token = 3
		}
		step("a parent settles, or has lost its lease", false, n)
	}
	if n := s; r.settlesEarly && s.token == uint8(i+1) && p.at < settles {
		n.parents[i].at, n.token = isGone, 3
		step("a parent settles early", false, n)
	}
}

// opens makes a page's own item, unless it is there.
func (s *familyM) opens(page uint8, appears bool) {
	if s.openings>>page&1 == 1 {
		return
	}
	s.openings |= 1 << page
	s.left[page] = kidsOn[page] & s.kids
	if appears {
		s.open |= 1 << page
	}
}

func (s *familyM) send(kid uint8) bool {
	for m := range s.letters[kid] {
		if s.letters[kid][m] == noMessage {
			s.letters[kid][m] = lies
			return true
		}
	}
	return slices.Max(s.letters[kid][:]) != noMessage // two messages are enough of them
}

// bearer is a worker with one message of a child.
func (r familyRules) bearer(s familyM, kid uint8, m int, step familyStep) {
	n, page := s, pageOf(kid)
	at := &n.letters[kid][m]
	switch s.letters[kid][m] {
	case noMessage:
		return
	case lies:
		*at = runs
		if s.ended>>kid&1 == 1 {
			if *at = hasEnded; r.leavesOnce {
				*at = finished
			}
		}
		step("a worker receives a child's message", false, n)
	case runs:
		if *at = hasEnded; s.ended>>kid&1 == 1 { // another bearer was faster
			*at = lies
		}
		n.ended |= 1 << kid
		step("a child ends", false, n)
	case hasEnded:
		*at = finished
		if s.openings>>page&1 == 1 {
			if n.left[page] &^= 1 << kid; n.left[page] == 0 {
				*at = offPage
			}
		}
		step("a child leaves its page", false, n)
	case offPage:
		*at = finished
		if n.open &^= 1 << page; n.open == 0 {
			*at = lastPage
		}
		step("a page is closed", false, n)
	case lastPage:
		if *at = followPut; s.follows == 0 {
			n.follows, n.wake = 1, 1
		}
		step("what follows is made, or is there", false, n)
	case followPut:
		*at = finished
		if s.follows == 1 && !n.sendFollow() {
			return
		}
		step("what follows is sent", false, n)
	case finished:
		*at = noMessage
		step("a child's message is deleted", false, n)
	}
	if n := s; s.crashes > 0 && s.letters[kid][m] > lies {
		n.crashes--
		n.letters[kid][m] = lies
		step("a worker dies", true, n)
	}
}

func (s familyM) discharged() bool {
	return s.token == 3 && s.ended == s.kids && s.follows == 2 && s.letters == [kids][2]uint8{} && s.followed == [2]uint8{} && s.wake == 0
}
