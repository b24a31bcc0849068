package worker_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

// told hands on what an attempt's payload is, and fails the first attempts.
func told(into *[]string, failing int) func(*worker.Worker) {
	return func(w *worker.Worker) {
		worker.Handle(w, "work", func(_ context.Context, a *worker.Attempt) error {
			*into = append(*into, string(a.Payload()))
			if a.Number() <= failing {
				return errors.New("not yet")
			}
			return nil
		})
	}
}

func TestAPayloadThatLiesElsewhere(t *testing.T) {
	big := `{"rows":"` + strings.Repeat("r", 1<<20) + `"}`
	sum := sha256.Sum256([]byte(big))
	own := "payloads/default/" + hex.EncodeToString(sum[:])
	for sentence, row := range map[string]struct {
		name, first string
		then        string // what lies there from the second attempt on; empty = the same
		status      job.Status
		code        string
		seen        int // attempts whose handler ran
		failing     int
	}{
		"is what the handler is given":                                {"in/a.json", big, "", job.Succeeded, "", 1, 0},
		"is the same at each attempt":                                 {"in/a.json", big, "", job.Succeeded, "", 3, 2},
		"that changed between attempts is not run":                    {"in/a.json", big, `{"rows":""}`, job.Failed, job.CodePayloadChanged, 1, 1},
		"named by its digest is verified by its name":                 {own, big, "", job.Succeeded, "", 2, 1},
		"named by its digest that is another from the start, is none": {own, `{}`, "", job.Failed, job.CodePayloadChanged, 0, 0},
		"that is too large is refused for good":                       {"in/a.json", strings.Repeat(" ", job.MaxPayloadObject+1), "", job.Failed, job.CodePayloadTooLarge, 0, 0},
		"may have the largest size":                                   {"in/a.json", strings.Repeat(" ", job.MaxPayloadObject), "", job.Succeeded, "", 1, 0},
		"that is not there is looked for again, and given up":         {"", "", "", job.Dead, job.CodePayloadUnread, 0, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			var seen []string
			workertest.Test(t, told(&seen, row.failing), func(t *testing.T, b *workertest.Bench) {
				ref := "s3://" + workertest.Bucket + "/none"
				if row.name != "" {
					ref = b.Store(row.name, []byte(row.first))
				}
				e := b.Start("work", nil, workertest.PayloadRef(ref))
				b.Advance(0)
				for row.then != "" && len(b.Look(e).Attempts) == 0 {
					b.Advance(10_000_000)
				}
				if row.then != "" {
					b.Store(row.name, []byte(row.then))
				}
				e = b.Wait(e)
				if e.Status != row.status || e.ErrorCode != row.code || len(seen) != row.seen {
					t.Errorf("%v %s, the handler ran %d times; want %s %s, %d", e, e.ErrorCode, len(seen), row.status, row.code, row.seen)
				}
				for _, got := range seen {
					if got != row.first {
						t.Errorf("the handler was given %d bytes, want %d", len(got), len(row.first))
					}
				}
			})
		})
	}
}

// A replay runs with what is there now, under a pin of its own: that is how a payload
// that was wrong is put right.
func TestAReplayRunsWithThePayloadAsItIsNow(t *testing.T) {
	var seen []string
	register := func(w *worker.Worker) {
		worker.Handle(w, "work", func(_ context.Context, a *worker.Attempt) error {
			seen = append(seen, string(a.Payload()))
			if string(a.Payload()) != "right" {
				return worker.Permanent(errors.New("not this"))
			}
			return nil
		})
	}
	workertest.Test(t, register, func(t *testing.T, b *workertest.Bench) {
		ref := b.Store("in/a", []byte("wrong"))
		e := b.Run("work", nil, workertest.PayloadRef(ref))
		b.Store("in/a", []byte("right"))
		if again := b.Replay(e); e.Status != job.Failed || again.Status != job.Succeeded || strings.Join(seen, " ") != "wrong right" {
			t.Errorf("%v, its replay %v, given %q", e, again, seen)
		}
	})
}

func TestAHandlerThatReadsItsPayloadItselfReadsItOnlyThen(t *testing.T) {
	var before, after, ref string
	register := func(w *worker.Worker) {
		worker.Handle(w, "work", func(ctx context.Context, a *worker.Attempt) error {
			before, ref = string(a.Payload()), a.PayloadRef()
			content, err := a.LoadPayload(ctx)
			after = string(a.Payload())
			if string(content) != after {
				t.Errorf("loaded %q, and then has %q", content, after)
			}
			return err
		}, worker.PayloadOnDemand())
	}
	workertest.Test(t, register, func(t *testing.T, b *workertest.Bench) {
		stored := b.Store("in/a", []byte("content"))
		if e := b.Run("work", nil, workertest.PayloadRef(stored)); e.Status != job.Succeeded || before != "" || after != "content" || ref != stored {
			t.Errorf("%v: %q, then %q, of %q", e, before, after, ref)
		}
	})
}

// Where an earlier attempt may have taken effect, a payload that is gone for good is
// no answer to that.
func TestAChangedPayloadLeavesADoubtToAPerson(t *testing.T) {
	register := func(w *worker.Worker) {
		worker.Handle(w, "work", func(context.Context, *worker.Attempt) error { return worker.TimedOut(errors.New("no answer")) },
			worker.Confirm(func(context.Context, string) (worker.Answer, error) { return worker.NotDone, nil }))
	}
	workertest.Test(t, register, func(t *testing.T, b *workertest.Bench) {
		ref := b.Store("in/a", []byte("1"))
		e := b.Start("work", nil, workertest.PayloadRef(ref))
		for len(b.Look(e).Attempts) == 0 {
			b.Advance(10_000_000)
		}
		b.Store("in/a", []byte("2"))
		if e = b.Wait(e); e.Status != job.NeedsReview || e.ErrorCode != job.CodePayloadChanged {
			t.Errorf("%v %s", e, e.ErrorCode)
		}
	})
}

// A child has the payload that its parent gave it, and none if it gave none.
func TestAChildDoesNotGetItsParentsPayload(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	register := func(w *worker.Worker) {
		worker.Handle(w, "parent", func(ctx context.Context, a *worker.Attempt) error {
			return a.FanOut(ctx, []worker.Child{{Payload: "one"}, {}}, worker.FanOut{Handler: "child"})
		})
		worker.Handle(w, "child", func(_ context.Context, a *worker.Attempt) error {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, string(a.Payload())+"|"+a.PayloadRef())
			return nil
		})
	}
	workertest.Test(t, register, func(t *testing.T, b *workertest.Bench) {
		e := b.Run("parent", nil, workertest.PayloadRef(b.Store("in/a", []byte("the parent's"))))
		b.Advance(time.Minute)
		slices.Sort(seen)
		if want := []string{`"one"|`, "|"}; e.Status != job.Succeeded || !slices.Equal(seen, want) {
			t.Errorf("%v, children were given %q, want %q", e, seen, want)
		}
	})
}
