package trigger

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// Every shard is in exactly one range, whatever the numbers are.
func TestATickCoversEveryShardExactlyOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		layout := job.Layout{Generation: rapid.IntRange(1, 9).Draw(t, "generation"), Shards: rapid.IntRange(1, 4096).Draw(t, "shards")}
		s := &Service{ScanMessages: rapid.IntRange(0, 300).Draw(t, "messages")}
		covered := make([]int, layout.Shards)
		ranges := s.divide(layout)
		for _, r := range ranges {
			if r.Generation != layout.Generation || r.From >= r.To {
				t.Fatalf("%+v is a range of %+v", r, layout)
			}
			for n := r.From; n < r.To; n++ {
				covered[n]++
			}
		}
		for n, times := range covered {
			if times != 1 {
				t.Fatalf("shard %d is covered %d times: %v", n, times, ranges)
			}
		}
		most := s.ScanMessages
		if most == 0 {
			most = 16
		}
		if len(ranges) > most {
			t.Fatalf("%d messages, and %d were asked for", len(ranges), most)
		}
	})
}

func TestWhatBecomesOfAWakeUp(t *testing.T) {
	now := time.Date(2026, 7, 12, 12, 0, 0, 0, time.UTC)
	const epsilon = 500 * time.Millisecond
	after := func(seconds int) time.Time { return now.Add(time.Duration(seconds) * time.Second) }
	const margin = 2 // 2ε and a second
	for name, row := range map[string]struct {
		status    job.Status
		wake      time.Time
		lease     time.Time
		available time.Time
		act       wakeAct
		at        time.Time
	}{
		"none any more, a stale index":                                 {status: job.Running, act: wakeLater},
		"beyond the horizon":                                           {status: job.RetryWait, wake: after(301), act: wakeLater},
		"of a retry that is due":                                       {status: job.RetryWait, wake: after(-5), available: after(-5), act: wakeSend, at: after(-5)},
		"of a retry inside the horizon":                                {status: job.RetryWait, wake: after(200), available: after(200), act: wakeSend, at: after(200)},
		"of a retry whose time was put off":                            {status: job.RetryWait, wake: after(10), available: after(100), act: wakeSend, at: after(100)},
		"of a manual run that nobody took":                             {status: job.Scheduled, wake: after(40), available: after(-20), act: wakeSend, at: after(40)},
		"of a running one whose lease has passed":                      {status: job.Running, wake: after(-9), lease: after(-2), act: wakeSend, at: now},
		"of a running one whose lease has just passed":                 {status: job.Running, wake: after(-9), lease: after(-1), act: wakeSend, at: after(1)},
		"of a running one that lives, looked at again soon":            {status: job.Running, wake: after(100), lease: after(60), act: wakeSend, at: after(60 + margin)},
		"of a running one that lives long, looked at again soon":       {status: job.Running, wake: after(100), lease: after(280), act: wakeRearm, at: after(280 + margin)},
		"of a running one that lives, to be looked at by a later scan": {status: job.Running, wake: after(121), lease: after(280), act: wakeLater},
		"of a running one whose lease passed long before its wake-up":  {status: job.Running, wake: after(250), lease: after(-30), act: wakeSend, at: now},
		"of one that has succeeded":                                    {status: job.Succeeded, wake: after(1), act: wakeRemove},
		"of one that is dead":                                          {status: job.Dead, wake: after(1), act: wakeRemove},
		"of one that was withdrawn":                                    {status: job.Withdrawn, wake: after(1), act: wakeRemove},
		"of one that waits for a person":                               {status: job.NeedsReview, wake: after(1), act: wakeRemove},
		"of a status of a newer build":                                 {status: "PONDERING", wake: after(1), act: wakeLater},
	} {
		t.Run(name, func(t *testing.T) {
			e := &job.Execution{Status: row.status, AvailableAt: row.available, Wake: job.Wake{At: row.wake, Version: 1}, Lease: job.Lease{Until: row.lease}}
			act, at := decideWake(e, now, now.Add(Horizon), epsilon)
			if act != row.act || !at.Equal(row.at) {
				t.Errorf("%s at %s, want %s at %s", act, at, row.act, row.at)
			}
		})
	}
	for _, status := range lifecycle.Statuses {
		act, _ := decideWake(&job.Execution{Status: status, Wake: job.Wake{At: now}}, now, now.Add(Horizon), epsilon)
		if ends := lifecycle.Terminal(status); ends != (act == wakeRemove) && status != job.Withdrawn && status != job.NeedsReview {
			t.Errorf("a wake-up of %s: %s", status, act)
		}
	}
}
