package lifecycle_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

const epsilon = 500 * time.Millisecond

// retry is what every case here allows: two lost workers, an hour of tries.
var retry = job.Retry{MaxAttempts: 5, Base: job.Duration(time.Second), Max: job.Duration(time.Minute), MaxAge: job.Duration(time.Hour), MaxLost: 2}

// everyCase calls visit with every combination of status × message × clock ×
// flags that can tell two decisions apart: some hundred thousand.
func everyCase(visit func(f lifecycle.Facts)) {
	each := []bool{false, true}
	statuses := append([]job.Status{"", "SOMETHING_NEWER"}, lifecycle.Statuses...) // "" = absent
	for _, status := range statuses {
		for _, epoch := range []int64{4, 5, 6} { // of the message; the item's is 5
			for _, restored := range each {
				for _, isolated := range each {
					for _, sinceLease := range []time.Duration{-time.Minute, -1, 0, 2*epsilon - 1, 2 * epsilon, time.Hour} {
						for flags := range 1 << 7 {
							visit(oneCase(status, epoch, restored, isolated, sinceLease, func(i int) bool { return flags>>i&1 == 1 }))
						}
					}
				}
			}
		}
	}
}

func oneCase(status job.Status, epoch int64, restored, isolated bool, sinceLease time.Duration, flag func(int) bool) lifecycle.Facts {
	f := lifecycle.Facts{Message: lifecycle.Message{Key: job.ScheduledKey(noon), Epoch: epoch, RestoreEpoch: 1, Receives: 2, Isolated: isolated},
		MayBegin: flag(0), Retry: retry, RestoreEpoch: 1, Now: noon, Epsilon: epsilon}
	if restored {
		f.RestoreEpoch = 2
	}
	if flag(1) {
		f.Nonce = "mine"
	}
	if status == "" {
		return f
	}
	item := &job.Execution{Key: f.Message.Key, Epoch: 5, Status: status, Schema: job.Schema, AvailableAt: noon}
	if flag(2) && status != job.Running { // what runs was available when it was claimed
		item.AvailableAt = noon.Add(1)
	}
	if flag(3) {
		item.Cancel = &job.Cancel{By: "ada"}
	}
	if flag(4) {
		item.Kind = job.KindManual
	}
	if flag(5) {
		item.Schema++
	}
	if status == job.Running || status == job.RetryWait {
		item.Attempt, item.FencingToken = 1, 1
	}
	if status == job.Running {
		item.Lease = job.Lease{Owner: "w1", Nonce: "theirs", Until: noon.Add(-sinceLease)}
		if flag(1) && flag(0) {
			item.Lease.Nonce = "mine"
		}
	}
	if flag(6) { // worn out, each in its way
		item.Lost, item.Redrives = 1, lifecycle.MaxRedrives
		if sinceLease > time.Minute {
			item.Lost, item.Attempt, item.StartedAt = 0, max(item.Attempt, 1), noon.Add(-retry.MaxAge.Std()-1)
		}
	}
	f.Item = item
	return f
}

func show(f lifecycle.Facts, d lifecycle.Disposition) string {
	item := "absent"
	if f.Item != nil {
		item = fmt.Sprintf("%+v", *f.Item)
	}
	return fmt.Sprintf("%s (%s, until %v, to %s)\nmessage %+v, nonce %q, may begin %v, restore epoch %d\nitem %s",
		d.Act, d.Why, d.Until, d.Transition.To(), f.Message, f.Nonce, f.MayBegin, f.RestoreEpoch, item)
}

// over is the first half of the deletion rule in words: what the bearer may see
// that makes a message void. NEEDS_REVIEW counts, for a person keeps it.
func over(f lifecycle.Facts) bool {
	if f.Message.RestoreEpoch < f.RestoreEpoch || f.Item == nil || f.Item.Epoch > f.Message.Epoch {
		return true
	}
	voids := []job.Status{job.Succeeded, job.Failed, job.Dead, job.Canceled, job.Skipped, job.Missed, job.Withdrawn, job.NeedsReview}
	return f.Item.Schema <= job.Schema && slices.Contains(voids, f.Item.Status)
}

// leaseOver reports whether a taker may come: 2ε after the lease's end.
func leaseOver(f lifecycle.Facts) bool { return f.Now.Sub(f.Item.Lease.Until) >= 2*f.Epsilon }

func worn(f lifecycle.Facts) bool { return f.Item.Lost+1 >= f.Retry.MaxLost }

func aged(f lifecycle.Facts) bool {
	return !f.Item.StartedAt.IsZero() && f.Now.Sub(f.Item.StartedAt) > f.Retry.MaxAge.Std()
}

// mayClaim is the claim rule in words: everything that must hold before a
// worker may take an execution for an attempt.
func mayClaim(f lifecycle.Facts) bool {
	i := f.Item
	if over(f) || i.Schema > job.Schema || i.Epoch != f.Message.Epoch || i.Cancel != nil || i.AvailableAt.After(f.Now) {
		return false
	}
	return i.Status == job.Scheduled && (i.Kind != job.KindScheduled || f.MayBegin) ||
		i.Status == job.RetryWait && !aged(f) ||
		i.Status == job.Running && leaseOver(f) && !worn(f) && !aged(f)
}

func TestWhatAWorkerDoesFollowsTheRules(t *testing.T) {
	cases, acts := 0, map[lifecycle.Act]int{}
	everyCase(func(f lifecycle.Facts) {
		d := lifecycle.Decide(f)
		cases++
		acts[d.Act]++
		if why := wrong(f, d); why != "" {
			t.Fatalf("%s: %s", why, show(f, d))
		}
	})
	if cases < 100_000 || len(acts) != 6 {
		t.Errorf("%d cases, acts %v: not every act was seen", cases, acts)
	}
}

// wrong says which rule the decision breaks, or nothing.
func wrong(f lifecycle.Facts, d lifecycle.Disposition) string {
	switch d.Act {
	case lifecycle.Delete:
		if !over(f) {
			return "a message is deleted although nothing was seen that makes it void"
		}
		return ""
	case lifecycle.Claim:
		if !mayClaim(f) || f.Item.Status == job.Running && !f.Message.Isolated {
			return "a claim that the claim rule refuses"
		}
		return ""
	case lifecycle.Own:
		if over(f) || f.Item.Status != job.Running || f.Nonce == "" || f.Item.Lease.Nonce != f.Nonce || !f.Now.Before(f.Item.Lease.Until) {
			return "a claim is taken for one's own that is not, or no longer"
		}
		return ""
	case lifecycle.Isolate:
		if !mayClaim(f) || f.Item.Status != job.Running || f.Message.Isolated {
			return "a successor is sent for what is not a lost attempt, or from the isolation queue to itself"
		}
		return ""
	case lifecycle.Hide:
		return wronglyHidden(f, d)
	case lifecycle.Close:
		return wronglyClosed(f, d.Transition)
	case lifecycle.Rewake:
		return "a worker writes no wake-up in place of a decision"
	}
	return "an act that does not exist"
}

func wronglyHidden(f lifecycle.Facts, d lifecycle.Disposition) string {
	known := !over(f) && f.Item.Schema <= job.Schema && f.Item.Epoch == f.Message.Epoch
	switch {
	case over(f):
		return "a void message is kept"
	case mayClaim(f):
		return "an execution that could run is kept waiting"
	case !d.Until.After(f.Now):
		return "the message is hidden until a time that has come: it would spin"
	case known && f.Item.Status == job.Running && !d.Until.Equal(f.Item.Lease.Until.Add(2*f.Epsilon)):
		return "a live lease is looked at again at another time than its end"
	case known && (f.Item.Status == job.Scheduled || f.Item.Status == job.RetryWait) && !d.Until.Equal(f.Item.AvailableAt):
		return "what is not available yet is looked at again at another time"
	case !known && d.Until.Sub(f.Now) > time.Minute:
		return "what is not understood is hidden for long"
	}
	return ""
}

func wronglyClosed(f lifecycle.Facts, t lifecycle.Transition) string {
	i := f.Item
	if over(f) || i.Schema > job.Schema || i.Epoch != f.Message.Epoch {
		return "something is written to what is over or not understood"
	}
	if !slices.Contains(t.From(), i.Status) || !lifecycle.Allowed(lifecycle.ExecutionArrows, i.Status, t.To()) {
		return "a forbidden arrow"
	}
	if i.Status == job.Running && !leaseOver(f) {
		return "an execution is closed under a live lease"
	}
	lost := i.Status == job.Running && worn(f)
	why := map[job.Status]bool{
		job.Canceled:  i.Cancel != nil,
		job.Withdrawn: i.Cancel == nil && i.Kind == job.KindScheduled && i.Status == job.Scheduled && !f.MayBegin,
		job.Dead:      i.Cancel == nil && (lost || aged(f)),
	}
	if !why[t.To()] {
		return "closed as " + string(t.To()) + " without the cause of it"
	}
	return ""
}

func TestWhatTheDeadLetterConsumerDoesFollowsTheRules(t *testing.T) {
	acts := map[lifecycle.Act]int{}
	everyCase(func(f lifecycle.Facts) {
		d := lifecycle.DecideDeadLetter(f)
		acts[d.Act]++
		if why := wrongRedrive(f, d); why != "" {
			t.Fatalf("%s: %s", why, show(f, d))
		}
	})
	if len(acts) != 3 {
		t.Errorf("acts %v: want delete, close and rewake", acts)
	}
}

// wrongRedrive says which line of the dead-letter table the decision breaks.
func wrongRedrive(f lifecycle.Facts, d lifecycle.Disposition) string {
	if over(f) != (d.Act == lifecycle.Delete) {
		return "what is over, and only that, is dropped"
	}
	if d.Act == lifecycle.Delete {
		return ""
	}
	i := f.Item
	lost := i.Status == job.Running && leaseOver(f)
	usedUp := lost && worn(f) || i.Status == job.Scheduled && i.Redrives >= lifecycle.MaxRedrives
	ends := i.Schema <= job.Schema && (usedUp || lost && i.Cancel != nil)
	if ends != (d.Act == lifecycle.Close) || !ends && d.Act != lifecycle.Rewake {
		return "what is used up or canceled, and only that, ends; all else gets a wake-up"
	}
	if !ends {
		return ""
	}
	want := job.Dead
	if lost && i.Cancel != nil {
		want = job.Canceled
	}
	if d.Transition.To() != want || !slices.Contains(d.Transition.From(), i.Status) {
		return "it ends as something else than " + string(want)
	}
	return ""
}
