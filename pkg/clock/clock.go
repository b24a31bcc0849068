// Package clock is the one place where time comes from. Planes take a clock as
// a value; tests run them inside a synctest bubble, where this one is virtual.
package clock

import (
	"context"
	"time"
)

// System is the machine's clock. The zero value is ready to use.
type System struct{}

// Now is the current time in UTC.
func (System) Now() time.Time { return time.Now().UTC() }

// Wait returns nil once the clock has reached until, never before, or the
// context's error when that ends first. A time that has passed returns at once.
func (System) Wait(ctx context.Context, until time.Time) error {
	for {
		left := time.Until(until)
		if left <= 0 {
			return ctx.Err()
		}
		timer := time.NewTimer(left)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}
