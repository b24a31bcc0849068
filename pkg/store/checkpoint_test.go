package store_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func saved(token int64, content string, object string) *job.Checkpoint {
	return &job.Checkpoint{Ref: ref, Key: job.ScheduledKey(noon), Token: token, At: noon.Add(time.Duration(token) * time.Minute), Size: int64(len(content)),
		Content: []byte(content), Object: object, Digest: object}
}

func (s *shelf) checkpoint() *job.Checkpoint {
	s.Helper()
	c, err := s.Checkpoint(s.Context(), ref, job.ScheduledKey(noon))
	s.must(err)
	return c
}

func TestACheckpointIsWhatWasSavedLastByTheNewestAttempt(t *testing.T) {
	onShelf(t, func(s *shelf) {
		key := job.ScheduledKey(noon)
		if c := s.checkpoint(); c != nil {
			t.Errorf("before any save it is %+v", c)
		}
		s.must(s.SaveCheckpoint(s.Context(), saved(1, "one", "")))
		s.must(s.SaveCheckpoint(s.Context(), saved(1, "two", "")))
		if c := s.checkpoint(); string(c.Content) != "two" || c.Number != 2 || c.SavedBy != 1 || !c.At.Equal(noon.Add(time.Minute)) || c.Size != 3 {
			t.Errorf("it is %+v", c)
		}
		c, err := s.FenceCheckpoint(s.Context(), ref, key, 3, noon)
		if err != nil || string(c.Content) != "two" || c.SavedBy != 1 || c.Token != 3 {
			t.Errorf("the third attempt loads %+v, %v", c, err)
		}
		for _, token := range []int64{1, 2} {
			if err := s.SaveCheckpoint(s.Context(), saved(token, "late", "")); !errors.Is(err, job.ErrLost) {
				t.Errorf("a save of attempt %d: %v", token, err)
			}
			if _, err := s.FenceCheckpoint(s.Context(), ref, key, token, noon); !errors.Is(err, job.ErrLost) {
				t.Errorf("a load of attempt %d: %v", token, err)
			}
		}
		s.must(s.SaveCheckpoint(s.Context(), saved(3, "", "large")))
		if c := s.checkpoint(); len(c.Content) != 0 || c.Object != "large" || c.Digest != "large" || c.Number != 3 {
			t.Errorf("one in the bucket is %+v", c)
		}
		s.must(s.SaveCheckpoint(s.Context(), saved(3, "small", "")))
		if c := s.checkpoint(); string(c.Content) != "small" || c.Object != "" || c.Digest != "" {
			t.Errorf("one in the table again is %+v", c)
		}
	})
}

func TestAnAttemptThatFindsNothingFencesAllTheSame(t *testing.T) {
	onShelf(t, func(s *shelf) {
		if c, err := s.FenceCheckpoint(s.Context(), ref, job.ScheduledKey(noon), 2, noon); c != nil || err != nil {
			t.Errorf("it loads %+v, %v", c, err)
		}
		if err := s.SaveCheckpoint(s.Context(), saved(1, "late", "")); !errors.Is(err, job.ErrLost) {
			t.Errorf("a save of the attempt before: %v", err)
		}
		if c := s.checkpoint(); c != nil {
			t.Errorf("it is %+v", c)
		}
	})
}

func TestASaveWhoseAnswerWasLostIsDoneOnceMore(t *testing.T) {
	onShelf(t, func(s *shelf) {
		s.lose = true
		s.must(s.SaveCheckpoint(s.Context(), saved(1, "one", "")))
		if c := s.checkpoint(); string(c.Content) != "one" {
			t.Errorf("it is %+v", c)
		}
	})
}

func TestWhatACheckpointCosts(t *testing.T) {
	onShelf(t, func(s *shelf) {
		// In this order: a write costs what the larger of the item before and after does.
		for _, row := range []struct {
			sentence string
			size     int
			want     float64
		}{{"a small one is a write unit", 500, 1}, {"one that just fits into the table is five", job.InlineCheckpoint, 5}} {
			clear(s.consumed)
			s.must(s.SaveCheckpoint(s.Context(), saved(1, string(bytes.Repeat([]byte("x"), row.size)), "")))
			if got := s.consumed["save checkpoint"]; got != row.want {
				t.Errorf("%s: %v", row.sentence, got)
			}
		}
	})
}
