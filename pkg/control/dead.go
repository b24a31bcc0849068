package control

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// DeadLetters is what the control plane needs of executions that wait for a person.
type DeadLetters interface {
	// Attention pages through what needed a person, newest first; false = there is
	// no more behind the last entry.
	Attention(ctx context.Context, q job.AttentionQuery) ([]job.AttentionEntry, bool, error)
	// ReadExecutions reads many executions; absent ones are left out.
	ReadExecutions(ctx context.Context, refs []job.ExecutionRef, strong bool) ([]*job.Execution, error)
	// Resolve keeps a verdict on a dead letter; job.ErrLost when another is there.
	Resolve(ctx context.Context, seen *job.Execution, verdict job.Resolution, audit job.Audit) error
	// Intervene applies a person's transition to exactly the state seen; job.ErrLost
	// when it has changed.
	Intervene(ctx context.Context, seen *job.Execution, t lifecycle.Transition, i job.Intervention) error
	// PutReplay stores a replay, linked both ways; false when its run has made it
	// before, job.ErrLost when what it repeats cannot be replayed any more.
	PutReplay(ctx context.Context, of, e *job.Execution, audit job.Audit) (bool, error)
}

// DeadFilter selects executions that need, or needed, a person. Zero fields select
// everything.
type DeadFilter struct {
	Job      string
	Type     string
	Codes    []string
	Statuses []job.Status // FAILED, DEAD, NEEDS_REVIEW
	Since    time.Time    // only what came into its state at or after it
	Until    time.Time    // only what came into its state at or before it
	Open     bool         // only what still waits for a person

	notOf string // leaves out what this run of replays made
}

// DeadLetter is an execution that needed a person.
type DeadLetter struct {
	Execution job.Execution
	At        time.Time // when it came into its state
	Open      bool      // nobody has replayed, closed or decided it yet
	cursor    string
}

// mostRows is how many entries of the list one call looks at: a narrow filter over
// a long list is read in several calls.
const mostRows = 1000

// Dead pages through a tenant's dead letters and reviews, newest first, as they are
// now. The list lags by seconds, and a page may hold fewer than limit, or none,
// although there are more: the cursor of the last page is empty.
func (s *Service) Dead(ctx context.Context, tenant string, f DeadFilter, cursor string, limit int) (found []DeadLetter, next string, err error) {
	q := job.AttentionQuery{Tenant: tenant, Since: f.Since, Until: f.Until, Cursor: cursor, Limit: max(limit, 100),
		Letters: len(f.Statuses) == 0 || slices.ContainsFunc(f.Statuses, lifecycle.DeadLetter),
		Reviews: len(f.Statuses) == 0 || slices.Contains(f.Statuses, job.NeedsReview)}
	for rows := 0; ; {
		entries, more, err := s.DeadLetters.Attention(ctx, q)
		if err != nil {
			return nil, "", err
		}
		page, err := s.letters(ctx, f, entries)
		if err != nil {
			return nil, "", err
		}
		if left := limit - len(found); len(page) > left || len(page) == left && more {
			found = append(found, page[:left]...)
			return found, found[limit-1].cursor, nil
		}
		found = append(found, page...)
		rows += len(entries)
		switch {
		case !more || len(entries) == 0:
			return found, "", nil
		case rows >= mostRows:
			return found, entries[len(entries)-1].Cursor, nil
		}
		q.Cursor = entries[len(entries)-1].Cursor
	}
}

// letters are the executions behind entries that a filter selects and that still are
// what the entry says, in the order of the entries.
func (s *Service) letters(ctx context.Context, f DeadFilter, entries []job.AttentionEntry) ([]DeadLetter, error) {
	var refs []job.ExecutionRef
	kept := entries[:0:0]
	for _, entry := range entries {
		if f.admits(entry) {
			kept, refs = append(kept, entry), append(refs, entry.ExecutionRef)
		}
	}
	if len(refs) == 0 {
		return nil, nil
	}
	read, err := s.DeadLetters.ReadExecutions(ctx, unique(refs), false)
	if err != nil {
		return nil, err
	}
	known := map[job.ExecutionRef]*job.Execution{}
	for _, e := range read {
		known[job.ExecutionRef{Ref: e.Ref, Key: e.Key}] = e
	}
	var found []DeadLetter
	for _, entry := range kept {
		e := known[entry.ExecutionRef]
		if e == nil || !current(entry, e) || f.Type != "" && e.Type != f.Type || f.Open && !lifecycle.AwaitsPerson(e) || madeBy(f.notOf, e) {
			continue
		}
		found = append(found, DeadLetter{Execution: *e, At: entry.At, Open: lifecycle.AwaitsPerson(e), cursor: entry.Cursor})
	}
	return found, nil
}

// current reports whether an entry still says what its execution is: it may have been
// decided, and be in doubt again.
func current(entry job.AttentionEntry, e *job.Execution) bool {
	if e.Status != job.NeedsReview || len(e.Timeline) == 0 {
		return e.Status == entry.Status
	}
	return entry.Status == job.NeedsReview && entry.At.Equal(e.Timeline[len(e.Timeline)-1].At)
}

// unique leaves repeated names out: a batched read refuses them.
func unique(refs []job.ExecutionRef) []job.ExecutionRef {
	seen := map[job.ExecutionRef]bool{}
	return slices.DeleteFunc(refs, func(ref job.ExecutionRef) bool {
		again := seen[ref]
		seen[ref] = true
		return again
	})
}

// admits judges what the entry itself tells.
func (f DeadFilter) admits(e job.AttentionEntry) bool {
	return (f.Job == "" || e.Ref.Job == f.Job) && (len(f.Codes) == 0 || slices.Contains(f.Codes, e.ErrorCode)) &&
		(len(f.Statuses) == 0 || slices.Contains(f.Statuses, e.Status))
}

// ResolveRequest closes a dead letter.
type ResolveRequest struct {
	Ref   job.Ref
	Key   job.Key
	As    job.Verdict // job.Handled or job.Ignored
	Note  string      // up to job.MaxNote bytes; empty = none
	Force bool        // also when another verdict is there
	Actor string
}

// ResolveDead closes a dead letter: it no longer waits for a person. It changes
// nothing about how the execution ended. The same verdict again changes nothing;
// another one is a conflict unless forced.
func (s *Service) ResolveDead(ctx context.Context, r ResolveRequest) (*job.Execution, error) {
	if err := checkVerdict(r.As, r.Note, lifecycle.LetterVerdicts); err != nil {
		return nil, err
	}
	if err := s.Jobs.Restored(ctx); err != nil {
		return nil, err
	}
	return s.again(ctx, r.Ref, r.Key, func(e *job.Execution) (bool, error) {
		if !lifecycle.DeadLetter(e.Status) {
			fix := "only FAILED and DEAD executions are closed"
			if e.Status == job.NeedsReview {
				fix = instead(e)[job.NeedsReview]
			}
			return false, notWaiting(e, "closed", fixes{e.Status: fix})
		}
		was := e.Resolution
		switch {
		case was != nil && was.As == r.As && (r.Note == "" || r.Note == was.Note):
			return true, nil
		case was != nil && !r.Force:
			return false, &job.Error{Code: job.CodeStateConflict, Field: "resolution", Value: string(was.As),
				Message: "it was closed before: " + string(was.As) + " by " + job.Shorten(was.By) + " at " + was.At.UTC().Format(time.RFC3339),
				Fix:     "leave it, or replace that with force"}
		}
		now := s.Clock.Now().Truncate(time.Millisecond).UTC()
		verdict := job.Resolution{As: r.As, By: r.Actor, At: now, Note: r.Note}
		return false, s.DeadLetters.Resolve(ctx, e, verdict, audited(e, "resolve as "+string(r.As), r.Actor, r.Note, now))
	})
}

// again reads an execution and has act change it, from the start as often as
// another write came first; then it reads what has become of it. act returns true
// when there is nothing to change.
func (s *Service) again(ctx context.Context, ref job.Ref, key job.Key, act func(*job.Execution) (bool, error)) (*job.Execution, error) {
	for try := 0; ; try++ {
		e, err := s.Executions.Execution(ctx, ref, key)
		if err != nil {
			return nil, err
		}
		if e == nil {
			return nil, executionNotFound(ref, key)
		}
		done, err := act(e)
		switch {
		case errors.Is(err, job.ErrLost) && try < maxTries:
			continue
		case err != nil:
			return nil, err
		case done:
			return e, nil
		}
		return s.Executions.Execution(ctx, ref, key)
	}
}

func audited(e *job.Execution, verb, actor, note string, at time.Time) job.Audit {
	return job.Audit{At: at, Ref: e.Ref, Verb: verb, Actor: actor, Epoch: e.Epoch, Revision: e.Revision, Execution: e.ID(), Note: note}
}

func checkVerdict(as job.Verdict, note string, allowed []job.Verdict) error {
	if !slices.Contains(allowed, as) {
		bound := string(allowed[0])
		for _, a := range allowed[1:] {
			bound += ", " + string(a)
		}
		return &job.Error{Code: job.CodeInvalid, Field: "as", Value: job.Shorten(string(as)), Bound: bound, Message: "\"" + job.Shorten(string(as)) + "\" is no verdict here", Fix: "choose one of: " + bound}
	}
	return job.CheckNote(note)
}

// fixes say what to do instead, by the status that an execution has.
type fixes map[job.Status]string

// notWaiting refuses a verb for an execution's status.
func notWaiting(e *job.Execution, done string, f fixes) error {
	return &job.Error{Code: job.CodeStateConflict, Field: "status", Value: string(e.Status), Message: "the execution is " + string(e.Status) + " and cannot be " + done, Fix: f[e.Status]}
}

// readsAtOnce bounds how many revisions a list reads at a time.
const readsAtOnce = 16

// InputDigests are, one for each execution, the SHA-256 of the payload that an
// execution which waits for a person ran with, in hex; empty for any other, for one
// without a payload, and when the job has been purged. Its revision, which never
// changes, keeps the payload, so that nothing is written for it.
func (s *Service) InputDigests(ctx context.Context, executions []job.Execution) ([]string, error) {
	type revision struct {
		ref    job.Ref
		number int
	}
	found := map[revision]**job.Revision{}
	reads, ctx := errgroup.WithContext(ctx)
	reads.SetLimit(readsAtOnce)
	for i := range executions {
		e := &executions[i]
		of := revision{e.Ref, e.Revision}
		if !lifecycle.Matters(e.Status) || found[of] != nil {
			continue
		}
		into := new(*job.Revision)
		found[of] = into
		reads.Go(func() error {
			rev, err := s.Jobs.Revision(ctx, of.ref, of.number)
			*into = rev
			return err
		})
	}
	if err := reads.Wait(); err != nil {
		return nil, err
	}
	digests := make([]string, len(executions))
	for i := range executions {
		e := &executions[i]
		if into := found[revision{e.Ref, e.Revision}]; into != nil && lifecycle.Matters(e.Status) {
			digests[i] = s.inputDigest(e, *into)
		}
	}
	return digests, nil
}

// inputDigest is that of one execution, whose revision may have been purged (nil).
func (s *Service) inputDigest(e *job.Execution, rev *job.Revision) string {
	if e.PayloadSum != "" || rev == nil {
		return e.PayloadSum
	}
	if ref, err := job.ParsePayloadRef(cmp.Or(e.PayloadRef, rev.Definition.PayloadRef)); err == nil {
		return s.Payloads.Pinned(e.Tenant, ref)
	}
	if len(rev.Definition.Payload) == 0 {
		return ""
	}
	digest := sha256.Sum256(rev.Definition.Payload)
	return hex.EncodeToString(digest[:])
}
