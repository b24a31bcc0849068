package clock_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/clock"
)

var truth = time.Date(2026, 7, 12, 12, 0, 0, 0, time.UTC)

// answer is one call by a clock that is off: sent at a true time, answered and
// received so much later. A service tells whole seconds.
func answer(s *clock.Skew, off time.Duration, at time.Time, answered, received time.Duration) {
	s.Sample(at.Add(off), at.Add(off+answered+received), at.Add(answered).Truncate(time.Second))
}

// However long the calls take, what is told is never more than the truth, and
// close to it once calls are quick.
func TestWhatIsToldOfAClockThatIsOff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		off := time.Duration(rapid.Int64Range(-int64(3*time.Hour), int64(3*time.Hour)).Draw(t, "off"))
		if rapid.Bool().Draw(t, "right") {
			off = 0
		}
		var s clock.Skew
		at := truth
		for range rapid.IntRange(1, 40).Draw(t, "calls") {
			at = at.Add(time.Duration(rapid.IntRange(1, 90_000).Draw(t, "between")) * time.Millisecond)
			answer(&s, off, at, time.Duration(rapid.IntRange(0, 21_000).Draw(t, "answered"))*time.Millisecond, time.Duration(rapid.IntRange(0, 900).Draw(t, "received"))*time.Millisecond)
			if got := s.Off(); got > off.Abs() {
				t.Fatalf("off by %s at most, and told %s", off, got)
			}
		}
		answer(&s, off, at.Add(time.Second), 2*time.Millisecond, 2*time.Millisecond)
		if got := s.Off(); got < off.Abs()-1100*time.Millisecond {
			t.Fatalf("off by %s, and told %s after a quick call", off, got)
		}
	})
}

func TestAClockThatIsSetIsToldAnew(t *testing.T) {
	var s clock.Skew
	if s.Off() != 0 {
		t.Error("without a sample the clock is off")
	}
	answer(&s, time.Minute, truth, time.Millisecond, time.Millisecond)
	if got := s.Off(); got < 58*time.Second {
		t.Errorf("a minute ahead is told as %s", got)
	}
	answer(&s, 0, truth.Add(time.Second), time.Millisecond, time.Millisecond)
	if got := s.Off(); got != 0 {
		t.Errorf("set right it is told as off by %s", got)
	}
	answer(&s, -time.Hour, truth.Add(2*time.Second), time.Millisecond, time.Millisecond)
	if got := s.Off(); got < time.Hour-2*time.Second {
		t.Errorf("set an hour back it is told as off by %s", got)
	}
}
