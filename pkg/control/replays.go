package control

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// ReplaysRequest asks for one page of a run of replays.
type ReplaysRequest struct {
	Tenant string
	Filter DeadFilter // Open is set by Again; Statuses leave reviews out
	All    bool       // needed when the filter selects everything
	Again  bool       // also dead letters that have been replayed or closed
	// Run names the run: a ULID, as an earlier page or a dry run gave it. What it has
	// replayed it never replays again, and it takes only what was a dead letter when
	// it was named. Empty: a new one.
	Run    string
	DryRun bool // only say which
	// FromScratch: no replay goes on from what the execution it repeats has saved.
	FromScratch bool
	Cursor      string
	Limit       int // 1 to MaxReplayPage
	Actor       string
}

// MaxReplayPage is how many replays one page makes at most.
const MaxReplayPage = 100

// ReplayResult is what became of one dead letter.
type ReplayResult struct {
	Of      job.Execution
	Replay  *job.Execution // nil in a dry run, and when it was refused
	Made    bool           // by this page; else the run had made it before
	Refused error          // why it could not be replayed; nil = it could
}

// ReplaysResult is one page of a run.
type ReplaysResult struct {
	Run     string
	Results []ReplayResult // newest dead letter first
	Next    string         // cursor of the next page; empty = the run is through
}

// Replays makes one page of a run of replays. Whoever drives it decides the rate, by
// the size of its pages and the pauses between them; after a failure the run goes on
// from any page, or from the first.
func (s *Service) Replays(ctx context.Context, r ReplaysRequest) (ReplaysResult, error) {
	if err := s.Jobs.Restored(ctx); err != nil {
		return ReplaysResult{}, err
	}
	filter, err := s.runFilter(&r)
	if err != nil {
		return ReplaysResult{}, err
	}
	letters, next, err := s.Dead(ctx, r.Tenant, filter, r.Cursor, r.Limit)
	if err != nil {
		return ReplaysResult{}, err
	}
	result := ReplaysResult{Run: r.Run, Next: next}
	for _, letter := range letters {
		e := letter.Execution
		one := ReplayResult{Of: e}
		if !r.DryRun {
			one.Replay, one.Made, one.Refused = s.replay(ctx, e.Ref, e.Key, r.Run, r.Actor, !r.Again, r.FromScratch)
		}
		if errors.Is(one.Refused, errDealtWith) {
			continue
		}
		if one.Refused != nil && job.CodeOf(one.Refused).Class() != job.ClassConflict && job.CodeOf(one.Refused).Class() != job.ClassMissing {
			return ReplaysResult{}, one.Refused // not about this one: the page can be repeated
		}
		result.Results = append(result.Results, one)
	}
	return result, nil
}

// runFilter checks a run's request, names the run where it has no name, and bounds
// what it takes by the moment at which it was named.
func (s *Service) runFilter(r *ReplaysRequest) (DeadFilter, error) {
	f := r.Filter
	if r.Run == "" {
		run, err := s.serial()
		if err != nil {
			return f, err
		}
		r.Run = run
	}
	serial, err := ulid.ParseStrict(r.Run)
	if err != nil || serial.String() != r.Run {
		return f, &job.Error{Code: job.CodeInvalid, Field: "run", Value: job.Shorten(r.Run), Message: "\"" + job.Shorten(r.Run) + "\" is no run of replays", Fix: "leave it out for a new run, or give the one that an earlier page named"}
	}
	if slices.Contains(f.Statuses, job.NeedsReview) {
		return f, &job.Error{Code: job.CodeInvalid, Field: "status", Value: string(job.NeedsReview), Bound: "FAILED, DEAD", Message: "an execution in doubt cannot be replayed",
			Fix: "decide what became of each with: belfry executions resolve ID --as succeeded|failed|retry"}
	}
	if f.Job == "" && f.Type == "" && len(f.Codes) == 0 && len(f.Statuses) == 0 && f.Since.IsZero() && f.Until.IsZero() && !r.All {
		return f, &job.Error{Code: job.CodeInvalid, Field: "all", Message: "nothing selects which dead letters are to be replayed", Fix: "name a job, a type, a code, a status or a time, or say that all are meant"}
	}
	named := time.UnixMilli(int64(serial.Time())).UTC() //nolint:gosec // 48 bits of milliseconds
	if f.Until.IsZero() || f.Until.After(named) {
		f.Until = named
	}
	if len(f.Statuses) == 0 {
		f.Statuses = slices.DeleteFunc(slices.Clone(lifecycle.Statuses), func(s job.Status) bool { return !lifecycle.DeadLetter(s) })
	}
	f.Open, f.notOf = !r.Again, r.Run
	return f, nil
}

// madeBy reports whether a run of replays made e. That the run takes nothing that
// ended after it was named does not tell: the clocks of workers are others.
func madeBy(run string, e *job.Execution) bool {
	if run == "" || e.Kind != job.KindReplay {
		return false
	}
	_, of, _, err := job.ParseID(cmp.Or(e.ReplayedFrom, e.ReplayOf))
	if err != nil {
		return false
	}
	key, err := job.RepeatKey(run, of)
	return err == nil && key == e.Key
}
