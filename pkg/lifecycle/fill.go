package lifecycle

import (
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Standing is what is stored for one scheduled time that a backfill comes to.
type Standing struct {
	Own    *job.Execution   // under the time's own key; nil = nothing
	Mine   *job.Execution   // the replay that this backfill made; nil = none
	Others []*job.Execution // replays that other backfills made
}

// FillFacts is all that DecideFill looks at.
type FillFacts struct {
	Standing
	Backfill *job.Backfill
	Head     *job.Head // as read before what stands there
	At       time.Time // the scheduled time
	Now      time.Time
	Behind   bool // the backfill has come by before
	// Begins is the claim rule's answer for what has not begun.
	Begins func(*job.Execution) bool
}

// FillAct is what a backfill does with one scheduled time.
type FillAct string

// The acts.
const (
	Pass   FillAct = "pass"   // it has begun or ended, or is none of this backfill's: never to be looked at again
	Wait   FillAct = "wait"   // it has not begun, and will by itself
	Fill   FillAct = "fill"   // make it, under its own key
	Repeat FillAct = "repeat" // make a replay beside it
)

// Filling is DecideFill's answer.
type Filling struct {
	Act   FillAct
	Item  *job.Execution // for Wait, and for Pass of what this backfill made
	Mine  bool           // this backfill made it
	Token int64          // for Repeat: the highest fencing token that the time has had
}

// DecideFill says what a backfill does with one scheduled time. What has begun is
// never made again, but for a rerun once it has ended; what ended without having
// begun is made as a replay beside it, unless this backfill made it. Behind its
// cursor nothing is made anew: what is absent there has ended and was forgotten.
func DecideFill(f FillFacts) Filling {
	own, b := f.Own, f.Backfill
	mine := own != nil && own.Backfill == b.ID
	switch {
	case f.Mine != nil:
		return f.made(f.Mine, true, Repeat)
	case own == nil && (f.Behind || f.unknown() || !b.Rerun && f.ranOtherwise()):
		return Filling{Act: Pass}
	case own == nil:
		return Filling{Act: Fill}
	case own.Attempt == 0 && !Terminal(own.Status):
		return f.made(own, mine, Fill)
	case own.Attempt > 0 && (!b.Rerun || !Terminal(own.Status)), mine:
		return Filling{Act: Pass, Item: own, Mine: mine}
	case f.Behind, !b.Rerun && f.ranOtherwise():
		return Filling{Act: Pass}
	}
	return Filling{Act: Repeat, Token: f.highestToken()}
}

// made judges an execution that has been made and may not have begun. A verb may
// have withdrawn it, or be about to: then the job's current life makes it again.
func (f FillFacts) made(e *job.Execution, mine bool, again FillAct) Filling {
	switch {
	case e.Attempt > 0 || Terminal(e.Status):
		return Filling{Act: Pass, Item: e, Mine: mine}
	case e.Epoch >= f.Head.Epoch || e.Status == job.Scheduled && f.Begins(e):
		return Filling{Act: Wait, Item: e, Mine: mine}
	}
	return Filling{Act: again, Mine: mine, Token: f.highestToken()}
}

// unknown reports whether the history no longer tells what became of the time.
func (f FillFacts) unknown() bool {
	kept := f.Backfill.Kept.Std()
	return kept > 0 && f.At.Before(f.Now.Add(-kept))
}

// ranOtherwise reports whether another backfill's replay stands for the time.
func (f FillFacts) ranOtherwise() bool {
	for _, e := range f.Others {
		if e.Attempt > 0 || !Terminal(e.Status) {
			return true
		}
	}
	return false
}

func (f FillFacts) highestToken() int64 {
	var highest int64
	for _, e := range append([]*job.Execution{f.Own, f.Mine}, f.Others...) {
		if e != nil {
			highest = max(highest, e.FencingToken)
		}
	}
	return highest
}
