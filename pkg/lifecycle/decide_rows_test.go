package lifecycle_test

import (
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// waiting is a message for a SCHEDULED execution that is due and may begin.
func waiting() lifecycle.Facts {
	key := job.ScheduledKey(noon)
	return lifecycle.Facts{Message: lifecycle.Message{Key: key, Epoch: 5, Receives: 1}, MayBegin: true, Retry: retry, Now: noon, Epsilon: epsilon,
		Nonce: "mine", Item: &job.Execution{Key: key, Epoch: 5, Status: job.Scheduled, AvailableAt: noon, Schema: job.Schema}}
}

// running is the same, taken by another worker whose lease ends in a minute.
func running(lease time.Duration) lifecycle.Facts {
	f := waiting()
	f.Item.Status, f.Item.Attempt, f.Item.FencingToken, f.Item.StartedAt = job.Running, 1, 1, noon.Add(-time.Minute)
	f.Item.Lease = job.Lease{Owner: "w1", Nonce: "theirs", Until: noon.Add(lease)}
	return f
}

// retrying is the same, waiting for its second attempt.
func retrying(wait time.Duration) lifecycle.Facts {
	f := waiting()
	f.Item.Status, f.Item.Attempt, f.Item.StartedAt, f.Item.AvailableAt = job.RetryWait, 1, noon.Add(-time.Minute), noon.Add(wait)
	f.MayBegin = false // it has begun: the claim rule no longer binds it
	return f
}

func with(f lifecycle.Facts, change func(f *lifecycle.Facts)) lifecycle.Facts {
	change(&f)
	return f
}

func TestDecide(t *testing.T) {
	canceled := func(f *lifecycle.Facts) { f.Item.Cancel = &job.Cancel{By: "ada"} }
	isolated := func(f *lifecycle.Facts) { f.Message.Isolated = true }
	for sentence, row := range map[string]struct {
		facts lifecycle.Facts
		act   lifecycle.Act
		until time.Duration // from noon, for Hide
		to    job.Status    // for Close
		why   job.Reason    // for Close
	}{
		"a due execution is claimed": {facts: waiting(), act: lifecycle.Claim},
		"an early message waits for the scheduled second": {facts: with(waiting(), func(f *lifecycle.Facts) { f.Item.AvailableAt = noon.Add(900 * time.Millisecond) }),
			act: lifecycle.Hide, until: 900 * time.Millisecond},
		"what a verb has superseded is withdrawn, never run": {facts: with(waiting(), func(f *lifecycle.Facts) { f.MayBegin = false }),
			act: lifecycle.Close, to: job.Withdrawn, why: lifecycle.Superseded},
		"a manual run asks no claim rule": {facts: with(waiting(), func(f *lifecycle.Facts) { f.MayBegin, f.Item.Kind = false, job.KindManual }),
			act: lifecycle.Claim},
		"a cancel before the first attempt ends it":                             {facts: with(waiting(), canceled), act: lifecycle.Close, to: job.Canceled, why: lifecycle.CancelRequested},
		"the message of an older life is dropped: the newer life sends its own": {facts: with(waiting(), func(f *lifecycle.Facts) { f.Message.Epoch = 4 }), act: lifecycle.Delete},
		"the message of an older life is dropped also while the newer one runs": {facts: with(running(time.Minute), func(f *lifecycle.Facts) { f.Message.Epoch = 4 }), act: lifecycle.Delete},
		"a message ahead of its item is kept":                                   {facts: with(waiting(), func(f *lifecycle.Facts) { f.Message.Epoch = 6 }), act: lifecycle.Hide, until: 30 * time.Second},
		"a message from before a restore is dropped":                            {facts: with(waiting(), func(f *lifecycle.Facts) { f.RestoreEpoch = 1 }), act: lifecycle.Delete},
		"a message without an execution is dropped":                             {facts: with(waiting(), func(f *lifecycle.Facts) { f.Item = nil }), act: lifecycle.Delete},
		"an item of a newer build is left to it":                                {facts: with(waiting(), func(f *lifecycle.Facts) { f.Item.Schema++ }), act: lifecycle.Hide, until: 30 * time.Second},
		"a live lease is waited for, with the clocks' difference":               {facts: running(time.Minute), act: lifecycle.Hide, until: time.Minute + 2*epsilon},
		"a lease that passed by less than 2ε still binds":                       {facts: running(-2*epsilon + 1), act: lifecycle.Hide, until: 1},
		"one's own claim whose answer was lost is run":                          {facts: with(running(time.Minute), func(f *lifecycle.Facts) { f.Nonce = "theirs" }), act: lifecycle.Own},
		"one's own claim that has passed is too late to run":                    {facts: with(running(-1), func(f *lifecycle.Facts) { f.Nonce = "theirs" }), act: lifecycle.Hide, until: 2*epsilon - 1},
		"no nonce is nobody's": {facts: with(running(time.Minute), func(f *lifecycle.Facts) { f.Nonce, f.Item.Lease.Nonce = "", "" }),
			act: lifecycle.Hide, until: time.Minute + 2*epsilon},
		"a lost attempt goes to the isolation queue first":        {facts: running(-2 * epsilon), act: lifecycle.Isolate},
		"from there it is taken over":                             {facts: with(running(-2*epsilon), isolated), act: lifecycle.Claim},
		"a lost attempt under a pause is taken over all the same": {facts: with(with(running(-2*epsilon), isolated), func(f *lifecycle.Facts) { f.MayBegin = false }), act: lifecycle.Claim},
		"one that was lost too often alone is poison": {facts: with(with(running(-time.Minute), isolated), func(f *lifecycle.Facts) { f.Item.Lost = 1 }),
			act: lifecycle.Close, to: job.Dead, why: lifecycle.Poison},
		"one that was lost too often among others is given up": {facts: with(running(-time.Minute), func(f *lifecycle.Facts) { f.Item.Lost = 1 }),
			act: lifecycle.Close, to: job.Dead, why: lifecycle.LeaseLost},
		"a lost attempt that is too old is given up": {facts: with(running(-time.Minute), func(f *lifecycle.Facts) { f.Item.StartedAt = noon.Add(-time.Hour - 1) }),
			act: lifecycle.Close, to: job.Dead, why: lifecycle.MaxAge},
		"a cancel outlives the worker that should have seen it":          {facts: with(running(-time.Minute), canceled), act: lifecycle.Close, to: job.Canceled, why: lifecycle.CancelRequested},
		"a cancel does not break a live lease":                           {facts: with(running(time.Minute), canceled), act: lifecycle.Hide, until: time.Minute + 2*epsilon},
		"a retry waits out its back-off":                                 {facts: retrying(time.Minute), act: lifecycle.Hide, until: time.Minute},
		"a retry whose time has come is claimed, whatever the head says": {facts: retrying(0), act: lifecycle.Claim},
		"a retry that is too old is given up": {facts: with(retrying(0), func(f *lifecycle.Facts) { f.Item.StartedAt = noon.Add(-time.Hour - 1) }),
			act: lifecycle.Close, to: job.Dead, why: lifecycle.MaxAge},
		"a canceled retry ends": {facts: with(retrying(time.Minute), canceled), act: lifecycle.Close, to: job.Canceled, why: lifecycle.CancelRequested},
	} {
		t.Run(sentence, func(t *testing.T) {
			d := lifecycle.Decide(row.facts)
			if d.Act != row.act || d.Why == "" {
				t.Fatalf("got %s", show(row.facts, d))
			}
			if row.act == lifecycle.Hide && !d.Until.Equal(noon.Add(row.until)) {
				t.Errorf("hidden until %v, want %v after noon", d.Until, row.until)
			}
			if d.Transition.To() != row.to || d.Transition.Reason() != row.why {
				t.Errorf("closed as %s/%s, want %s/%s", d.Transition.To(), d.Transition.Reason(), row.to, row.why)
			}
		})
	}
}

func TestDecideDeadLetter(t *testing.T) {
	for sentence, row := range map[string]struct {
		facts lifecycle.Facts
		act   lifecycle.Act
		to    job.Status
		why   job.Reason
	}{
		"what waits gets a wake-up":                         {facts: waiting(), act: lifecycle.Rewake},
		"what is older than the head is not thereby over":   {facts: with(waiting(), func(f *lifecycle.Facts) { f.MayBegin = false }), act: lifecycle.Rewake},
		"what runs gets a wake-up":                          {facts: running(time.Minute), act: lifecycle.Rewake},
		"a lost attempt gets a wake-up":                     {facts: running(-time.Minute), act: lifecycle.Rewake},
		"a back-off gets a wake-up":                         {facts: retrying(time.Minute), act: lifecycle.Rewake},
		"an item of a newer build gets a wake-up":           {facts: with(waiting(), func(f *lifecycle.Facts) { f.Item.Schema++ }), act: lifecycle.Rewake},
		"a lost attempt with none left is poison":           {facts: with(running(-time.Minute), func(f *lifecycle.Facts) { f.Item.Lost = 1 }), act: lifecycle.Close, to: job.Dead, why: lifecycle.Poison},
		"a live one with none left is not touched":          {facts: with(running(time.Minute), func(f *lifecycle.Facts) { f.Item.Lost = 1 }), act: lifecycle.Rewake},
		"a canceled lost attempt ends as canceled":          {facts: with(running(-time.Minute), func(f *lifecycle.Facts) { f.Item.Lost, f.Item.Cancel = 1, &job.Cancel{By: "ada"} }), act: lifecycle.Close, to: job.Canceled, why: lifecycle.CancelRequested},
		"what was dispatched in vain too often is given up": {facts: with(waiting(), func(f *lifecycle.Facts) { f.Item.Redrives = lifecycle.MaxRedrives }), act: lifecycle.Close, to: job.Dead, why: lifecycle.RedrivesUsedUp},
		"one time fewer, and it gets another chance":        {facts: with(waiting(), func(f *lifecycle.Facts) { f.Item.Redrives = lifecycle.MaxRedrives - 1 }), act: lifecycle.Rewake},
		"what has begun is not given up for its dispatches": {facts: with(retrying(0), func(f *lifecycle.Facts) { f.Item.Redrives = lifecycle.MaxRedrives }), act: lifecycle.Rewake},
		"the message of an older life is dropped":           {facts: with(running(-time.Minute), func(f *lifecycle.Facts) { f.Message.Epoch = 4 }), act: lifecycle.Delete},
		"what was withdrawn is dropped":                     {facts: with(waiting(), func(f *lifecycle.Facts) { f.Item.Status = job.Withdrawn }), act: lifecycle.Delete},
		"what has ended is dropped":                         {facts: with(waiting(), func(f *lifecycle.Facts) { f.Item.Status = job.Succeeded }), act: lifecycle.Delete},
		"a message without an execution is dropped":         {facts: with(waiting(), func(f *lifecycle.Facts) { f.Item = nil }), act: lifecycle.Delete},
		"a message from before a restore is dropped":        {facts: with(waiting(), func(f *lifecycle.Facts) { f.RestoreEpoch = 1 }), act: lifecycle.Delete},
	} {
		t.Run(sentence, func(t *testing.T) {
			d := lifecycle.DecideDeadLetter(row.facts)
			if d.Act != row.act || d.Transition.To() != row.to || d.Transition.Reason() != row.why || d.Why == "" {
				t.Errorf("want %s %s/%s, got %s", row.act, row.to, row.why, show(row.facts, d))
			}
		})
	}
}

func TestAStartDeadlineBindsFirstAttemptsOnly(t *testing.T) {
	hour := job.Duration(time.Hour)
	for sentence, row := range map[string]struct {
		facts lifecycle.Facts
		act   lifecycle.Act
	}{
		"after it nobody begins any more": {with(waiting(), func(f *lifecycle.Facts) { f.Start, f.Now = hour, noon.Add(time.Hour+1) }), lifecycle.Close},
		"at it one still begins":          {with(waiting(), func(f *lifecycle.Facts) { f.Start, f.Now = hour, noon.Add(time.Hour) }), lifecycle.Claim},
		"one that was made late has the whole of it from then": {with(waiting(), func(f *lifecycle.Facts) {
			f.Start, f.Now, f.Item.CreatedAt = hour, noon.Add(90*time.Minute), noon.Add(40*time.Minute)
		}), lifecycle.Claim},
		"a retry is not bound": {with(retrying(0), func(f *lifecycle.Facts) { f.Start, f.Now = job.Duration(time.Second), noon.Add(2*time.Second) }), lifecycle.Claim},
	} {
		got := lifecycle.Decide(row.facts)
		if got.Act != row.act || got.Act == lifecycle.Close && (got.Transition.To() != job.Missed || got.Transition.Reason() != lifecycle.StartDeadline) {
			t.Errorf("%s: %+v", sentence, got)
		}
	}
}
