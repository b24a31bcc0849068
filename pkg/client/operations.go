package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// PutOptions bound what a Put may do. The zero value creates or edits.
type PutOptions struct {
	IfMatch  int  // revision that must be current; 0 = any
	IfAbsent bool // refuse when the job exists
	DryRun   bool // only say what would happen
	// EffectiveAt is when an edit takes effect; zero = at once.
	EffectiveAt time.Time
	// Calendars are tried in place of those of their names that the service keeps; it
	// refuses them without DryRun.
	Calendars []job.Calendar
}

// asks is the part of a request that o is.
func (o PutOptions) asks() (url.Values, http.Header) {
	query, header := url.Values{}, http.Header{}
	if o.DryRun {
		query.Set("dry_run", "true")
	}
	if !o.EffectiveAt.IsZero() {
		query.Set("effective_at", o.EffectiveAt.UTC().Format(time.RFC3339Nano))
	}
	if o.IfMatch != 0 {
		header.Set("If-Match", fmt.Sprintf("%q", strconv.Itoa(o.IfMatch)))
	}
	return query, header
}

// PutJob creates the job d.Job or gives it a new revision.
func (c *Client) PutJob(ctx context.Context, d job.Definition, o PutOptions) (PutResult, error) {
	k := call{method: http.MethodPut, path: []string{"jobs", d.Job}, body: d}
	if len(o.Calendars) > 0 {
		k.body = struct {
			job.Definition
			Calendars []job.Calendar `json:"calendars"`
		}{d, o.Calendars}
	}
	k.query, k.header = o.asks()
	if o.IfAbsent {
		k.header.Set("If-None-Match", "*")
	}
	// A repeated If-None-Match would meet its own first success; If-Match the same.
	k.once = !o.DryRun && (o.IfAbsent || o.IfMatch != 0)
	var out PutResult
	return out, c.do(ctx, k, &out)
}

// PatchJob changes some of a job's definition: patch is a merge patch (RFC 7396),
// so what it does not name stays and null takes away.
func (c *Client) PatchJob(ctx context.Context, name string, patch json.RawMessage, o PutOptions) (PutResult, error) {
	k := call{method: http.MethodPatch, path: []string{"jobs", name}, body: patch}
	k.query, k.header = o.asks()
	k.header.Set("Content-Type", "application/merge-patch+json")
	k.once = !o.DryRun && o.IfMatch != 0
	var out PutResult
	return out, c.do(ctx, k, &out)
}

// Job reads a job with its definition.
func (c *Client) Job(ctx context.Context, name string) (Job, error) {
	var out Job
	return out, c.do(ctx, call{method: http.MethodGet, path: []string{"jobs", name}}, &out)
}

// Jobs reads one page of jobs, in no promised order. limit 0 = 100.
func (c *Client) Jobs(ctx context.Context, cursor string, limit int) (Page[Job], error) {
	var out Page[Job]
	return out, c.do(ctx, call{method: http.MethodGet, path: []string{"jobs"}, query: paging(cursor, limit)}, &out)
}

// DeleteJob ends a job; deleting a deleted one is no error, one that never was
// is. ifMatch 0 = any revision.
func (c *Client) DeleteJob(ctx context.Context, name string, ifMatch int) error {
	k := call{method: http.MethodDelete, path: []string{"jobs", name}, header: http.Header{}}
	if ifMatch != 0 {
		k.header.Set("If-Match", fmt.Sprintf("%q", strconv.Itoa(ifMatch)))
	}
	return c.do(ctx, k, nil)
}

// PauseJob stops new executions and withdraws those that have not begun.
func (c *Client) PauseJob(ctx context.Context, name string) (Job, error) {
	var out Job
	return out, c.do(ctx, call{method: http.MethodPost, path: []string{"jobs", name, "pause"}}, &out)
}

// ResumeJob lets a job run again. how says what becomes of the times that fell
// into the pause; empty = as the definition says.
func (c *Client) ResumeJob(ctx context.Context, name string, how job.OnResume) (Job, error) {
	k := call{method: http.MethodPost, path: []string{"jobs", name, "resume"}}
	if how != "" {
		k.query = url.Values{"on_resume": {string(how)}}
	}
	var out Job
	return out, c.do(ctx, k, &out)
}

// RunJob makes one execution at once. With an idempotency key the call may be
// repeated for a day and means the same execution; without one (empty) each call
// makes another, so it is never repeated after its answer was lost.
func (c *Client) RunJob(ctx context.Context, name, idempotencyKey string) (Execution, error) {
	return c.RunJobWith(ctx, name, RunOptions{IdempotencyKey: idempotencyKey})
}

// RunOptions say how a job is run now.
type RunOptions struct {
	IdempotencyKey string // as of RunJob
	PayloadRef     string // where this execution's payload lies, s3://bucket/key; empty = the job's own
}

// RunJobWith is RunJob with a payload of the execution's own.
func (c *Client) RunJobWith(ctx context.Context, name string, o RunOptions) (Execution, error) {
	k := call{method: http.MethodPost, path: []string{"jobs", name, "run"}, once: o.IdempotencyKey == ""}
	if o.IdempotencyKey != "" {
		k.header = http.Header{"Idempotency-Key": {o.IdempotencyKey}}
	}
	if o.PayloadRef != "" {
		k.query = url.Values{"payload_ref": {o.PayloadRef}}
	}
	var out Execution
	return out, c.do(ctx, k, &out)
}

// NextFires previews the job's coming times. after zero = now, count 0 = 5.
func (c *Client) NextFires(ctx context.Context, name string, after time.Time, count int) (Fires, error) {
	query := url.Values{}
	if !after.IsZero() {
		query.Set("after", after.UTC().Format(time.RFC3339Nano))
	}
	if count != 0 {
		query.Set("count", strconv.Itoa(count))
	}
	var out Fires
	return out, c.do(ctx, call{method: http.MethodGet, path: []string{"jobs", name, "next"}, query: query}, &out)
}

// ExecutionQuery selects executions. The zero value: the latest of the tenant.
type ExecutionQuery struct {
	Job      string       // empty = of every job
	Statuses []job.Status // empty = all
	Upcoming bool         // also those whose time has not come
	Cursor   string
	Limit    int // 0 = 100
}

// Executions reads one page, newest scheduled time first.
func (c *Client) Executions(ctx context.Context, q ExecutionQuery) (Page[Execution], error) {
	query := paging(q.Cursor, q.Limit)
	for _, s := range q.Statuses {
		query.Add("status", string(s))
	}
	if q.Upcoming {
		query.Set("upcoming", "true")
	}
	path := []string{"executions"}
	if q.Job != "" {
		path = []string{"jobs", q.Job, "executions"}
	}
	var out Page[Execution]
	return out, c.do(ctx, call{method: http.MethodGet, path: path, query: query}, &out)
}

// Execution reads one execution. The id of another revision finds it too.
func (c *Client) Execution(ctx context.Context, id string) (Execution, error) {
	var out Execution
	return out, c.do(ctx, call{method: http.MethodGet, path: []string{"executions", id}}, &out)
}

// Children lists the children of an execution, a page at a time; an empty cursor
// begins with the first.
func (c *Client) Children(ctx context.Context, id, cursor string) (Page[Execution], error) {
	var out Page[Execution]
	query := url.Values{}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	return out, c.do(ctx, call{method: http.MethodGet, path: []string{"executions", id, "children"}, query: query}, &out)
}

// Timeline reads how an execution came to be what it is, oldest entry first.
func (c *Client) Timeline(ctx context.Context, id string) (Page[Entry], error) {
	var out Page[Entry]
	return out, c.do(ctx, call{method: http.MethodGet, path: []string{"executions", id, "timeline"}}, &out)
}

// CancelExecution ends an execution that is not running at once, and asks a
// running one to stop.
func (c *Client) CancelExecution(ctx context.Context, id string) (Execution, error) {
	var out Execution
	return out, c.do(ctx, call{method: http.MethodPost, path: []string{"executions", id, "cancel"}}, &out)
}

// Health asks whether the service answers.
func (c *Client) Health(ctx context.Context) (Health, error) {
	var out Health
	return out, c.do(ctx, call{method: http.MethodGet, path: []string{"health"}}, &out)
}

// Shards asks which shards hold overdue jobs.
func (c *Client) Shards(ctx context.Context) (Shards, error) {
	var out Shards
	return out, c.do(ctx, call{method: http.MethodGet, path: []string{"shards"}}, &out)
}

// Reconcile sends again what is due and has no message. One call works for some
// seconds; the next one goes on at its NextCursor.
func (c *Client) Reconcile(ctx context.Context, cursor string) (Reconciled, error) {
	var out Reconciled
	return out, c.do(ctx, call{method: http.MethodPost, path: []string{"reconcile"}, query: paging(cursor, 0)}, &out)
}

// Restore repairs what a restore from backups leaves behind. One call works for
// some seconds; repeat it until Phase is "done".
func (c *Client) Restore(ctx context.Context) (Restored, error) {
	var out Restored
	return out, c.do(ctx, call{method: http.MethodPost, path: []string{"restore"}}, &out)
}

func paging(cursor string, limit int) url.Values {
	query := url.Values{}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	if limit != 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	return query
}

// Every walks all pages that page reads, beginning at cursor. The walk ends
// with the first error, which is yielded with a zero item.
func Every[T any](cursor string, page func(cursor string) (Page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			p, err := page(cursor)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range p.Items {
				if !yield(item, nil) {
					return
				}
			}
			if p.NextCursor == "" {
				return
			}
			cursor = string(p.NextCursor)
		}
	}
}
