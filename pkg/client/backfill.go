package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Backfill makes the executions of scheduled times that have passed, at a rate.
type Backfill struct {
	ID         Text              `json:"id" nullable:"true" doc:"null in a dry run"`
	Job        string            `json:"job"`
	State      job.BackfillState `json:"state" enum:"RUNNING,DONE,CANCELED" doc:"DONE: every time of it has begun, or was passed over"`
	From       Time              `json:"from" format:"date-time" doc:"First scheduled time"`
	To         Time              `json:"to" format:"date-time" doc:"Last scheduled time"`
	Count      int               `json:"count" doc:"Scheduled times from the first to the last"`
	Made       int               `json:"made" doc:"Executions made, under way and ended ones included"`
	Skipped    int               `json:"skipped" doc:"Times passed over, since they have an execution or nothing is known of them"`
	Revision   int               `json:"revision" doc:"Revision of the job whose times and definition it runs"`
	Rate       float64           `json:"rate" doc:"Executions a second at most"`
	Rerun      bool              `json:"rerun" doc:"Whether times with an execution that has ended are run again"`
	Force      bool              `json:"force" doc:"Whether times whose history is no longer kept are made, too"`
	Reason     Text              `json:"reason" doc:"Word of the closed list of reasons; CAUGHT_UP = the job's misfire policy made it"`
	Actor      Text              `json:"actor" nullable:"true" doc:"Who asked for it; null = a misfire policy"`
	CreatedAt  Time              `json:"created_at" format:"date-time"`
	DoneAt     Time              `json:"done_at" nullable:"true" format:"date-time"`
	EndReason  Text              `json:"end_reason" nullable:"true" doc:"Why it was canceled"`
	CanceledBy Text              `json:"canceled_by" nullable:"true"`
}

// BackfillAnswer tells what asking for a backfill did, or would do.
type BackfillAnswer struct {
	Backfill
	DryRun   bool      `json:"dry_run"`
	There    *int      `json:"already_there" nullable:"true" doc:"Times that are passed over, since they have an execution; only in a dry run"`
	JobState job.State `json:"job_state" enum:"ENABLED,PAUSED,SUSPENDED,BROKEN,COMPLETED" doc:"Unless ENABLED or COMPLETED it waits until the job goes on"`
}

// BackfillQuestion asks for a backfill.
type BackfillQuestion struct {
	From   string  `json:"from"`
	To     string  `json:"to,omitempty"`
	Rate   float64 `json:"rate,omitempty"`
	Rerun  bool    `json:"rerun,omitempty"`
	Force  bool    `json:"force,omitempty"`
	DryRun bool    `json:"-"`
}

// Backfill asks for the executions of times that have passed. Each call makes
// another backfill, so it is never repeated after its answer was lost.
func (c *Client) Backfill(ctx context.Context, name string, q BackfillQuestion) (BackfillAnswer, error) {
	k := call{method: http.MethodPost, path: []string{"jobs", name, "backfills"}, query: url.Values{}, body: q, once: !q.DryRun}
	if q.DryRun {
		k.query.Set("dry_run", "true")
	}
	var out BackfillAnswer
	return out, c.do(ctx, k, &out)
}

// Backfills reads one page of a job's backfills, newest first. limit 0 = 100.
func (c *Client) Backfills(ctx context.Context, name, cursor string, limit int) (Page[Backfill], error) {
	var out Page[Backfill]
	return out, c.do(ctx, call{method: http.MethodGet, path: []string{"jobs", name, "backfills"}, query: paging(cursor, limit)}, &out)
}

// BackfillOf reads one backfill of a job.
func (c *Client) BackfillOf(ctx context.Context, name, id string) (Backfill, error) {
	var out Backfill
	return out, c.do(ctx, call{method: http.MethodGet, path: []string{"jobs", name, "backfills", id}}, &out)
}

// CancelBackfill stops a backfill and cancels what it made that has not begun.
func (c *Client) CancelBackfill(ctx context.Context, name, id string) (Backfill, error) {
	var out Backfill
	return out, c.do(ctx, call{method: http.MethodPost, path: []string{"jobs", name, "backfills", id, "cancel"}}, &out)
}
