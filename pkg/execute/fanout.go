package execute

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// Request is what a handler asks for when it fans out.
type Request struct {
	Payloads  []json.RawMessage // one child each
	Handler   string            // that each child runs
	Reduce    string            // that runs once all have ended; empty = none does
	Pool      string            // empty = the execution's own
	Timeout   job.Duration      // of a child's attempt; zero = the job's
	Retry     *job.Retry        // of a child; nil = the job's
	MaxFailed int               // children that may fail before the rest is canceled
}

// digest tells two requests apart. Lengths go along, so that no two lists of payloads
// read alike.
func (r Request) digest() string {
	h := sha256.New()
	whole, _ := json.Marshal(Request{Handler: r.Handler, Reduce: r.Reduce, Pool: r.Pool, Timeout: r.Timeout, Retry: r.Retry, MaxFailed: r.MaxFailed}) // always encodes
	for _, part := range append([]json.RawMessage{whole}, r.Payloads...) {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		_, _ = h.Write(size[:]) // never fails
		_, _ = h.Write(part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Codes of fan-outs.
const (
	CodeFanOutChanged    = "FAN_OUT_CHANGED"
	CodeFanOutIncomplete = "FAN_OUT_INCOMPLETE"
	CodeChildrenFailed   = "CHILDREN_FAILED"
)

// Family is an execution's children, in the hands of one attempt of it.
type Family struct {
	p        *passage
	item     *job.Execution
	begun    bool
	complete bool
}

// parallelChildren is how many children are made at a time.
const parallelChildren = 32

// FanOut makes the children and sends them, page by page: a page that was made is not
// made again. The attempt keeps them until every page is: should it end before, the
// next one goes on. Each attempt must ask for the same children; others are refused
// with FAN_OUT_CHANGED, since some may have begun.
func (m *Family) FanOut(ctx context.Context, r Request) error {
	p, e := m.p, m.item
	switch {
	case p.Families == nil || p.Makers == nil || p.Sender == nil:
		return &job.Error{Code: job.CodeNotSupported, Field: "children", Message: "this worker makes no children", Fix: "run it in a worker of Belfry"}
	case !e.FansOut():
		return &job.Error{Code: job.CodeNotSupported, Field: "children", Value: e.ID(), Message: "a child, or what runs after children, cannot have children of its own",
			Fix: "let the job itself fan out further, or run another job"}
	}
	m.begun = true
	f := &job.FanOut{Ref: e.Ref, Parent: e.Key, Revision: e.Revision, Epoch: e.Epoch, ReplayOf: e.ReplayOf, Total: len(r.Payloads), Digest: r.digest(),
		Handler: r.Handler, Reduce: r.Reduce, Pool: r.Pool, Type: e.Type, Timeout: r.Timeout, Retry: r.Retry, MaxFailed: r.MaxFailed, CreatedAt: p.Clock.Now()}
	if f.Pool == "" {
		f.Pool = e.Pool
	}
	there, err := p.Makers.StartFanOut(ctx, e, f)
	switch {
	case errors.Is(err, job.ErrLost):
		return ErrLeaseLost
	case err != nil:
		return err
	case there == nil || there.Digest != f.Digest:
		return &job.Error{Code: CodeFanOutChanged, Field: "children", Message: "an earlier attempt asked for other children, and some of them may have begun",
			Fix: "make the list once and keep it in a checkpoint"}
	}
	for page := range there.Pages() {
		if slices.Contains(there.Made, page) {
			continue
		}
		if err := m.page(ctx, there, page, r.Payloads); err != nil {
			return err
		}
	}
	m.complete = true
	if there.Total == 0 {
		return p.reduce(ctx, there)
	}
	return nil
}

// page makes one page: its own item, then its children, then their messages, and
// only then the note that all that is done.
func (m *Family) page(ctx context.Context, f *job.FanOut, page int, payloads []json.RawMessage) error {
	if err := m.p.Makers.OpenPage(ctx, f, page); err != nil {
		return err
	}
	there, err := m.there(ctx, f, page)
	if err != nil {
		return err
	}
	now := m.p.Clock.Now()
	sends := make([]*job.Execution, f.OnPage(page))
	group, bounded := errgroup.WithContext(ctx)
	group.SetLimit(parallelChildren)
	for i := range sends {
		if e := there[i]; e != nil {
			sends[i] = unsent(e)
			continue
		}
		group.Go(func() (err error) {
			sends[i], err = m.child(bounded, f, page*job.PageSize+i, payloads, now)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	sends = slices.DeleteFunc(sends, func(e *job.Execution) bool { return e == nil })
	if err := errors.Join(m.p.Sender.Admit(ctx, sends)...); err != nil {
		return err
	}
	return m.p.Makers.PageMade(ctx, f, page)
}

// child makes one child; nil when there is nothing to send for it.
func (m *Family) child(ctx context.Context, f *job.FanOut, n int, payloads []json.RawMessage, now time.Time) (*job.Execution, error) {
	e := memberOf(f, job.ChildKey(f.Parent, n), lifecycle.FannedOut, now)
	e.Input = payloads[n]
	there, err := m.p.Makers.Put(ctx, e)
	switch {
	case err == nil:
		return e, nil
	case !errors.Is(err, job.ErrLost):
		return nil, err
	}
	return unsent(there), nil
}

// unsent is a child that an attempt made which may not have come to send it; nil once
// it has begun.
func unsent(there *job.Execution) *job.Execution {
	if there != nil && there.Status == job.Scheduled && there.Attempt == 0 {
		return there
	}
	return nil
}

// there reads which children of a page an earlier attempt has made, by their place.
func (m *Family) there(ctx context.Context, f *job.FanOut, page int) (map[int]*job.Execution, error) {
	if m.item.Attempt == 1 {
		return nil, nil
	}
	children, err := m.p.Families.Children(ctx, f.Ref, f.Parent, page)
	if err != nil {
		return nil, err
	}
	there := make(map[int]*job.Execution, len(children))
	for i := range children {
		there[children[i].Index] = &children[i]
	}
	return there, nil
}

// unfinished turns a success into a failure while children are missing that this
// execution, or an attempt of it before, began to make.
func (p *passage) unfinished(ctx context.Context, m *Family) (*lifecycle.Failure, error) {
	if m.complete || !m.begun && !m.item.FannedOut || p.Makers == nil {
		return nil, nil
	}
	if !m.begun {
		f, err := p.Makers.FanOut(ctx, m.item.Ref, m.item.Key)
		if err != nil || f == nil || f.Complete() {
			return nil, err
		}
	}
	return &lifecycle.Failure{Class: lifecycle.Transient, Code: CodeFanOutIncomplete, Text: "the handler ended although not all of its children were made"}, nil
}

// Outcome is how the children of an execution ended, for what runs after them.
func (m *Family) Outcome() (*job.FanOut, error) {
	member := memberKey(m.item)
	if member.Kind != job.KindReduce {
		return nil, &job.Error{Code: job.CodeNotSupported, Field: "children", Message: "only what runs after children is told how they ended"}
	}
	if m.p.family == nil {
		return &job.FanOut{Ref: m.item.Ref, Parent: member.Parent(), Reduce: m.p.revision.Definition.Target.HandlerName()}, nil
	}
	return m.p.family, nil
}

// Children reads one page of the children of the execution that this one runs after.
func (m *Family) Children(ctx context.Context, page int) ([]job.Execution, error) {
	return m.p.Families.Children(ctx, m.item.Ref, memberKey(m.item).Parent(), page)
}

// Checkpoint reads what a child saved last.
func (m *Family) Checkpoint(ctx context.Context, child job.Key) (content []byte, found bool, err error) {
	c, err := m.p.Checkpoints.Checkpoint(ctx, m.item.Ref, child)
	switch {
	case err != nil || c == nil:
		return nil, false, err
	case c.Object == "":
		return c.Content, true, nil
	}
	content, err = fetch(ctx, m.p.Objects, c)
	return content, err == nil, err
}

// tooMany is the failure of what would run after children of which too many failed. A
// person who has it replayed has decided otherwise.
func (p *passage) tooMany(e *job.Execution) *lifecycle.Failure {
	if e.Kind != job.KindReduce || p.family == nil || !p.family.TooManyFailed() {
		return nil
	}
	return &lifecycle.Failure{Class: lifecycle.PermanentClass, Code: CodeChildrenFailed,
		Text: fmt.Sprintf("%d of %d children failed, and %d may", p.family.Failed, p.family.Total, p.family.MaxFailed)}
}
