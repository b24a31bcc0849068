package clock

import (
	"context"
	"time"
)

// Corrected is the machine's clock, put right by what Skew has learnt: only where
// the local time is one that the answers rule out, and by no more than that takes.
// So two machines that call the same service differ by little, whatever their own
// clocks say. The zero value is System.
type Corrected struct{ Skew *Skew }

// Now is the current time in UTC.
func (c Corrected) Now() time.Time { return System{}.Now().Add(c.correction()) }

// Wait returns nil once this clock has reached until, never before, or the
// context's error when that ends first. What is learnt meanwhile counts.
func (c Corrected) Wait(ctx context.Context, until time.Time) error {
	for {
		used := c.correction()
		if err := (System{}).Wait(ctx, until.Add(-used)); err != nil {
			return err
		}
		if c.correction() == used || !c.Now().Before(until) {
			return nil
		}
	}
}

func (c Corrected) correction() time.Duration {
	if c.Skew == nil {
		return 0
	}
	return c.Skew.Correction()
}
