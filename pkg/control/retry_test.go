package control_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

func asJobError(err error, into **job.Error) bool { return errors.As(err, into) }

// The write and the message are one each; a second request finds the wait over, and
// only sends once more.
func TestARetryNowIsWrittenOnceAndSentEachTime(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.put(daily())
		e := d.brought(job.RetryWait, "X")
		d.written()
		for try, want := range [][]string{{"TransactWriteItems", "SendMessageBatch"}, {"SendMessageBatch"}} {
			now := time.Now().Truncate(time.Millisecond)
			got, err := d.RetryNow(d.Context(), d.ref, e.Key, "bob")
			d.must(err)
			if writes := d.written(); !slices.Equal(writes, want) {
				t.Errorf("try %d wrote %v", try, writes)
			}
			if got.Status != job.RetryWait || got.AvailableAt.After(now) || got.Attempt != 1 {
				t.Errorf("try %d: %+v", try, got)
			}
			last := got.Timeline[len(got.Timeline)-1]
			if last.Reason != lifecycle.RetryAsked || last.Actor != "bob" || got.Wake.Version != 2 || got.Wake.At.IsZero() {
				t.Errorf("try %d: %+v, %+v", try, last, got.Wake)
			}
			time.Sleep(time.Second)
		}
		if got := d.audit(); got[len(got)-1] != "retry now bob 1" {
			t.Errorf("audited are %v", got)
		}
	})
}

func TestAVerdictIsCarriedOutOnce(t *testing.T) {
	for as, want := range map[job.Verdict]struct {
		status job.Status
		sent   bool
		other  job.Verdict
	}{job.ItWorked: {job.Succeeded, false, job.ItFailed}, job.ItFailed: {job.Failed, false, job.TryAgain}, job.TryAgain: {job.RetryWait, true, job.ItWorked}} {
		t.Run(string(as), func(t *testing.T) {
			atDesk(t, func(d *desk) {
				d.put(daily())
				e := d.brought(job.NeedsReview, "X")
				decide := func(as job.Verdict, note string) (*job.Execution, error) {
					return d.Review(d.Context(), control.ReviewRequest{Ref: d.ref, Key: e.Key, As: as, Note: note, Actor: "bob"})
				}
				if _, err := decide(as, ""); job.CodeOf(err) != job.CodeInvalid {
					t.Errorf("without a note: %v", err)
				}
				if _, err := decide(job.Handled, "note"); job.CodeOf(err) != job.CodeInvalid {
					t.Errorf("a verdict that is none: %v", err)
				}
				d.written()
				got, err := decide(as, "seen")
				d.must(err)
				if got.Status != want.status || got.Review == nil || got.Review.By != "bob" || got.Review.Note != "seen" || slices.Contains(d.written(), "SendMessageBatch") != want.sent {
					t.Errorf("it is %+v", got)
				}
				before := d.audit()
				if got, err := decide(as, "seen"); err != nil || got.Status != want.status {
					t.Errorf("again: %+v, %v", got, err)
				}
				if _, err := decide(want.other, "no"); job.CodeOf(err) != job.CodeStateConflict {
					t.Errorf("another verdict: %v", err)
				}
				if got := d.audit(); !slices.Equal(got, before) || got[len(got)-1] != "review as "+string(as)+" bob 1" {
					t.Errorf("audited are %v", got)
				}
			})
		})
	}
}
