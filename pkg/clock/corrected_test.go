package clock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/clock"
)

func TestACorrectedClock(t *testing.T) {
	for sentence, row := range map[string]struct {
		said time.Duration // by the service, from what the local clock says
		want time.Duration // added to it
	}{
		"one that may be right is left alone":                        {0, 0},
		"half a second is within what an answer allows":              {500 * time.Millisecond, 0},
		"one that is behind is put forward, by no more than it must": {3 * time.Second, 3*time.Second - 4*time.Millisecond},
		"one that is ahead is put back":                              {-3 * time.Second, -2 * time.Second},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var skew clock.Skew
				c := clock.Corrected{Skew: &skew}
				if now := time.Now(); !c.Now().Equal(now) {
					t.Errorf("without a sample it says %v at %v", c.Now(), now)
				}
				sent := time.Now()
				time.Sleep(4 * time.Millisecond)
				skew.Sample(sent, time.Now(), sent.Add(row.said).Truncate(time.Second))
				now := time.Now()
				if got := c.Now().Sub(now); got != row.want {
					t.Errorf("put by %v, want %v", got, row.want)
				}
				until := c.Now().Add(time.Minute)
				if err := c.Wait(t.Context(), until); err != nil || !c.Now().Equal(until) {
					t.Errorf("waited until %v, %v; want %v", c.Now(), err, until)
				}
			})
		})
	}
}

func TestACorrectedClockThatLearnsWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var skew clock.Skew
		c := clock.Corrected{Skew: &skew}
		until := c.Now().Add(10 * time.Second)
		time.AfterFunc(time.Second, func() {
			now := time.Now()
			skew.Sample(now, now, now.Add(-4*time.Second).Truncate(time.Second))
		})
		if err := c.Wait(t.Context(), until); err != nil || c.Now().Before(until) {
			t.Errorf("came back at %v, %v; never before %v", c.Now(), err, until)
		}
	})
}
