package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Verdict is what a person decided about an execution.
type Verdict struct {
	As   string `json:"as" enum:"handled,ignored,succeeded,failed,retry"`
	By   string `json:"by"`
	At   Time   `json:"at" format:"date-time"`
	Note Text   `json:"note" nullable:"true"`
}

// DeadLetter is an execution that needs, or needed, a person.
type DeadLetter struct {
	Execution
	Since Time `json:"since" format:"date-time" doc:"When it came into its state"`
	Open  bool `json:"open" doc:"True until a person has replayed, closed or decided it"`
}

// DeadQuery selects dead letters and reviews.
type DeadQuery struct {
	Job, Type, Since, Until string
	Codes                   []string
	Statuses                []job.Status
	Open                    bool // only what still waits for a person
	Cursor                  string
	Limit                   int // 0 = 100
}

func (q DeadQuery) values() url.Values {
	query := paging(q.Cursor, q.Limit)
	for name, value := range map[string]string{"job": q.Job, "type": q.Type, "since": q.Since, "until": q.Until} {
		if value != "" {
			query.Set(name, value)
		}
	}
	for _, code := range q.Codes {
		query.Add("code", code)
	}
	for _, status := range q.Statuses {
		query.Add("status", string(status))
	}
	if q.Open {
		query.Set("open", "true")
	}
	return query
}

// Dead reads one page of what needs, or needed, a person, newest first. A page may
// hold less than asked for although there is more; the last one has no cursor.
func (c *Client) Dead(ctx context.Context, q DeadQuery) (Page[DeadLetter], error) {
	var out Page[DeadLetter]
	return out, c.do(ctx, call{method: http.MethodGet, path: []string{"dead"}, query: q.values()}, &out)
}

// VerdictQuestion tells what a person decided.
type VerdictQuestion struct {
	As    string `json:"as"`
	Note  string `json:"note,omitempty"`
	Force bool   `json:"force,omitempty"`
}

// ResolveDead closes a dead letter as handled or ignored.
func (c *Client) ResolveDead(ctx context.Context, id string, q VerdictQuestion) (Execution, error) {
	var out Execution
	return out, c.do(ctx, call{method: http.MethodPost, path: []string{"dead", id, "resolve"}, body: q}, &out)
}

// ReviewExecution ends the doubt about an execution: succeeded, failed or retry.
func (c *Client) ReviewExecution(ctx context.Context, id string, q VerdictQuestion) (Execution, error) {
	var out Execution
	return out, c.do(ctx, call{method: http.MethodPost, path: []string{"executions", id, "resolve"}, body: q}, &out)
}

// RetryExecution lets the next attempt of an execution that waits for it begin now.
func (c *Client) RetryExecution(ctx context.Context, id string) (Execution, error) {
	var out Execution
	return out, c.do(ctx, call{method: http.MethodPost, path: []string{"executions", id, "retry"}}, &out)
}

// ReplayExecution repeats a dead letter. With an idempotency key it is safe to repeat
// and the same key gives the same replay; without one each call makes another.
// From scratch it does not go on from what the execution has saved.
func (c *Client) ReplayExecution(ctx context.Context, id, idempotencyKey string, fromScratch bool) (Execution, error) {
	k := call{method: http.MethodPost, path: []string{"executions", id, "replay"}, query: url.Values{}, once: idempotencyKey == ""}
	if fromScratch {
		k.query.Set("from_scratch", "true")
	}
	if idempotencyKey != "" {
		k.header = http.Header{"Idempotency-Key": {idempotencyKey}}
	}
	var out Execution
	return out, c.do(ctx, k, &out)
}

// Replay is what became of one dead letter in a run of replays.
type Replay struct {
	Execution string `json:"execution" doc:"Id of the dead letter"`
	Replay    Text   `json:"replay" nullable:"true" doc:"Id of its replay; null in a dry run, and when it was refused"`
	Made      bool   `json:"made" doc:"True when this page made it; false when the run had made it before"`
	Refused   *Fault `json:"refused" doc:"Why it could not be replayed; null = it could"`
}

// Replays is one page of a run of replays.
type Replays struct {
	Run        string   `json:"run" doc:"Name of the run: give it with the next page, or to go on later"`
	DryRun     bool     `json:"dry_run"`
	Items      []Replay `json:"items" doc:"Newest dead letter first"`
	NextCursor Text     `json:"next_cursor" nullable:"true" doc:"Goes on behind this page; null = the run is through"`
}

// ReplaysQuestion asks for one page of a run of replays.
type ReplaysQuestion struct {
	Job      string       `json:"job,omitempty"`
	Type     string       `json:"type,omitempty"`
	Codes    []string     `json:"code,omitempty"`
	Statuses []job.Status `json:"status,omitempty"`
	Since    string       `json:"since,omitempty"`
	Until    string       `json:"until,omitempty"`
	All      bool         `json:"all,omitempty"`
	Again    bool         `json:"again,omitempty"`
	Scratch  bool         `json:"from_scratch,omitempty"`
	Run      string       `json:"run,omitempty"`
	Cursor   string       `json:"cursor,omitempty"`
	Limit    int          `json:"limit,omitempty"`
	DryRun   bool         `json:"-"`
}

// Replays makes one page of a run of replays. With the run's name it is safe to
// repeat: what the run has replayed it never replays again.
func (c *Client) Replays(ctx context.Context, q ReplaysQuestion) (Replays, error) {
	k := call{method: http.MethodPost, path: []string{"replays"}, body: q, query: url.Values{}, once: q.Run == "" && !q.DryRun}
	if q.DryRun {
		k.query.Set("dry_run", "true")
	}
	var out Replays
	return out, c.do(ctx, k, &out)
}
