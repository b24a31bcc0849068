package clock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/clock"
)

func TestWait(t *testing.T) {
	for sentence, row := range map[string]struct {
		until, ends time.Duration // of the wait and of its context
		took        time.Duration
		err         error
	}{
		"a time to come is waited for":                {time.Minute, time.Hour, time.Minute, nil},
		"to the nanosecond":                           {time.Second + 1, time.Hour, time.Second + 1, nil},
		"now is no wait":                              {0, time.Hour, 0, nil},
		"a time that has passed is no wait":           {-time.Hour, time.Hour, 0, nil},
		"a context that ends first ends it":           {time.Minute, time.Second, time.Second, context.DeadlineExceeded},
		"one that has ended is told even without one": {-time.Hour, 0, 0, context.DeadlineExceeded},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithTimeout(t.Context(), row.ends)
				defer stop()
				begun := time.Now()
				err := clock.System{}.Wait(ctx, begun.Add(row.until))
				if took := time.Since(begun); took != row.took || !errors.Is(err, row.err) {
					t.Errorf("took %v, %v; want %v, %v", took, err, row.took, row.err)
				}
			})
		})
	}
}

func TestNowIsInUTC(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if now := (clock.System{}).Now(); now.Location() != time.UTC || !now.Equal(time.Now()) {
			t.Errorf("got %v", now)
		}
	})
}
