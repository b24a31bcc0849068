package store_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

var (
	audit  = job.Audit{At: noon, Ref: ref, Verb: "verb", Actor: "ada", Epoch: 1, Revision: 1, Execution: job.ID(ref.Job, scheduled, 1), Note: "since"}
	toWake = job.Intervention{WakeAt: noon.Add(time.Minute), Audit: audit}
)

func handled(by string) job.Resolution {
	return job.Resolution{As: job.Handled, By: by, At: noon, Note: "by hand"}
}

func reviewed(as job.Verdict) lifecycle.Transition {
	t, _ := lifecycle.ReviewedAs(as, noon, "ada")
	return t
}

func replayOf(of *job.Execution, run string) *job.Execution {
	key, err := job.RepeatKey(run, of.Key)
	if err != nil {
		panic(err)
	}
	return &job.Execution{Ref: of.Ref, Key: key, Revision: 2, Epoch: 4, Pool: "slow", Type: "report", Target: "log", CreatedAt: noon.Add(time.Hour), AvailableAt: noon.Add(time.Hour), Reason: lifecycle.Replayed,
		Actor: "ada", Wake: job.Wake{At: noon.Add(61 * time.Minute)}, FencingToken: 7, ReplayOf: of.ID(), ReplayedFrom: "nightly~m-01JZXW7GB0RE2M4Q0T5N6V8XYZ~v1", Covers: noon.Add(-time.Hour),
		Timeline: []job.Entry{{At: noon, To: job.Scheduled, Reason: lifecycle.Replayed, Actor: "ada"}}}
}

// waits readies an execution that waits an hour for its second attempt.
func (s *shelf) waits(reason job.Reason) *job.Execution {
	s.Helper()
	s.create()
	s.must(s.Settle(s.Context(), s.claimed(), lifecycle.Waiting(noon, noon.Add(time.Hour), "w", reason, lifecycle.Failure{Code: "X"}), time.Time{}))
	return s.at(scheduled)
}

func (s *shelf) doubtful() *job.Execution {
	s.Helper()
	s.create()
	held := s.claimed()
	s.must(s.RequestCancel(s.Context(), held, job.Cancel{At: noon, By: "bob"}))
	s.must(s.Settle(s.Context(), held, lifecycle.LeftForReview(noon, "w", lifecycle.Failure{Code: "X", Text: "what\n" + strings.Repeat("stack ", 100)}), time.Time{}))
	return s.at(scheduled)
}

func (s *shelf) dead() *job.Execution {
	s.Helper()
	s.create()
	s.must(s.Settle(s.Context(), s.claimed(), lifecycle.FailedForGood(noon, "w", lifecycle.Failure{Code: "X"}), time.Time{}))
	return s.at(scheduled)
}

func (s *shelf) audits() (found []job.Audit) {
	s.Helper()
	out, err := s.client.Query(s.Context(), &dynamodb.QueryInput{TableName: aws.String(s.Tables().Control), KeyConditionExpression: aws.String("pk = :pk"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": &types.AttributeValueMemberS{Value: store.AuditPrefix + ref.String()}}})
	s.must(err)
	for _, stored := range out.Items {
		a, err := store.DecodeAudit(stored)
		s.must(err)
		if a.Verb != "create" {
			found = append(found, *a)
		}
	}
	return found
}

func TestARetryNowMayBeClaimedAtOnceAndStaysWhatItWas(t *testing.T) {
	onShelf(t, func(s *shelf) {
		was := s.waits(lifecycle.Uncertain)
		s.must(s.Rewake(s.Context(), was, noon.Add(time.Hour), false))
		s.must(s.Intervene(s.Context(), s.at(scheduled), lifecycle.RetriedNow(noon, "ada"), toWake))
		now := s.at(scheduled)
		if now.Status != job.RetryWait || !now.AvailableAt.Equal(noon) || now.Attempt != 1 || now.ErrorCode != "X" || now.Reason != lifecycle.RetryAsked {
			s.Errorf("it is %+v", now)
		}
		if !now.Doubt {
			s.Error("that it may have taken effect is forgotten")
		}
		if now.Wake.Version != 2 || !now.Wake.At.Equal(noon.Add(time.Minute)) {
			s.Errorf("its wake-up is %+v", now.Wake)
		}
		if got := s.audits(); !slices.Equal(got, []job.Audit{audit}) {
			s.Errorf("audited is %+v", got)
		}
		if _, err := s.Claim(s.Context(), claimOf(now)); err != nil {
			s.Errorf("a claim gives %v", err)
		}
	})
}

func TestAVerdictEndsADoubt(t *testing.T) {
	for as, want := range map[job.Verdict]struct {
		status job.Status
		ends   bool
		stack  bool
	}{job.ItWorked: {job.Succeeded, true, false}, job.ItFailed: {job.Failed, true, true}, job.TryAgain: {job.RetryWait, false, false}} {
		t.Run(string(as), func(t *testing.T) {
			onShelf(t, func(s *shelf) {
				was := s.doubtful()
				if was.Stack == "" || was.Cancel == nil {
					s.Fatalf("it was %+v", was)
				}
				i := job.Intervention{Review: &job.Resolution{As: as, By: "ada", At: noon, Note: "seen"}, Audit: audit}
				if !want.ends {
					i.WakeAt = noon.Add(time.Minute)
				}
				s.must(s.Intervene(s.Context(), was, reviewed(as), i))
				now := s.at(scheduled)
				if now.Status != want.status || now.FinishedAt.IsZero() == want.ends || now.Wake.At.IsZero() != want.ends || (now.Stack != "") != want.stack || now.Cancel != nil || now.Doubt {
					s.Errorf("it is %+v", now)
				}
				if now.Review == nil || !reflect.DeepEqual(*now.Review, *i.Review) {
					s.Errorf("the verdict is %+v", now.Review)
				}
				last := now.Timeline[len(now.Timeline)-1]
				if last.Reason != lifecycle.Reviewed || last.Actor != "ada" || last.To != want.status {
					s.Errorf("the timeline ends with %+v", last)
				}
			})
		})
	}
}

func TestAReplayIsLinkedBothWaysAndComesBackAsItWasStored(t *testing.T) {
	onShelf(t, func(s *shelf) {
		of := s.dead()
		e := replayOf(of, "A")
		made, err := s.PutReplay(s.Context(), of, e, audit)
		s.must(err)
		again, err := s.PutReplay(s.Context(), s.at(scheduled), e, audit)
		s.must(err)
		if !made || again {
			s.Errorf("made %v, again %v", made, again)
		}
		if got := s.consumed["put replay"]; got != 8 {
			s.Errorf("it consumed %v write units", got)
		}
		if got := s.at(scheduled).ReplayedBy; !slices.Equal(got, []string{e.ID()}) {
			s.Errorf("what it repeats names %v", got)
		}
		got := s.at(e.Key)
		want := *e
		want.Status, want.Schema, want.Wake = job.Scheduled, job.Schema, job.Wake{At: e.Wake.At, Shard: got.Wake.Shard, Version: 1}
		if !reflect.DeepEqual(*got, want) {
			s.Errorf("got  %+v\nwant %+v", *got, want)
		}
		if got := s.audits(); len(got) != 1 {
			s.Errorf("audited is %+v", got)
		}
		other := replayOf(of, "B")
		if _, err := s.PutReplay(s.Context(), s.at(scheduled), other, audit); err != nil || len(s.at(scheduled).ReplayedBy) != 2 {
			s.Errorf("a second replay gives %v, %v", err, s.at(scheduled).ReplayedBy)
		}
	})
}

// What may go on stays within one write unit, whatever its error said; what waits
// for a person keeps the last error in full, within bounds.
func TestOnlyWhatWaitsForAPersonKeepsTheWholeError(t *testing.T) {
	long := lifecycle.Failure{Code: "PANIC", Text: "boom\n" + strings.Repeat("é", 4000)}
	for name, row := range map[string]struct {
		t    lifecycle.Transition
		kept int
	}{
		"a wait for a retry":     {lifecycle.Waiting(noon, noon.Add(time.Second), "w", lifecycle.HandlerPanic, long), 0},
		"FAILED":                 {lifecycle.FailedForGood(noon, "w", long), 4095},
		"DEAD":                   {lifecycle.GivenUp(noon, "w", lifecycle.AttemptsUsedUp, long), 4095},
		"in doubt":               {lifecycle.LeftForReview(noon, "w", long), 4095},
		"FAILED with few words":  {lifecycle.FailedForGood(noon, "w", lifecycle.Failure{Code: "X", Text: strings.Repeat("x", 240)}), 0},
		"FAILED with more words": {lifecycle.FailedForGood(noon, "w", lifecycle.Failure{Code: "X", Text: strings.Repeat("x", 241)}), 241},
	} {
		t.Run(name, func(t *testing.T) {
			onShelf(t, func(s *shelf) {
				s.create()
				held := s.claimed()
				s.must(s.Settle(s.Context(), held, row.t, time.Time{}))
				e := s.at(scheduled)
				if len(e.Stack) != row.kept || len(e.ErrorText) > 240 || !strings.HasPrefix(e.Stack, strings.TrimSuffix(e.ErrorText, "\uFFFD")) && row.kept > 0 {
					s.Errorf("%d bytes of %d are kept, and a text of %d", len(e.Stack), len(row.t.ErrorText()), len(e.ErrorText))
				}
				if row.kept == 0 && s.consumed["settle"] != 1 {
					s.Errorf("the settle consumed %v units", s.consumed["settle"])
				}
			})
		})
	}
}

func TestAResolutionComesBackAsItWasStored(t *testing.T) {
	onShelf(t, func(s *shelf) {
		was := s.dead()
		s.must(s.Resolve(s.Context(), was, handled("ada"), audit))
		now := s.at(scheduled)
		if now.Resolution == nil || !reflect.DeepEqual(*now.Resolution, handled("ada")) {
			s.Errorf("it is %+v", now.Resolution)
		}
		now.Resolution = nil
		if !reflect.DeepEqual(now, was) {
			s.Errorf("it changed more: %+v", now)
		}
		if got := s.audits(); !slices.Equal(got, []job.Audit{audit}) {
			s.Errorf("audited is %+v", got)
		}
		if err := s.Resolve(s.Context(), s.at(scheduled), job.Resolution{As: job.Ignored, By: "bob", At: noon}, audit); err != nil || s.at(scheduled).Resolution.As != job.Ignored {
			s.Errorf("another verdict gives %v", errors.Unwrap(err))
		}
	})
}
