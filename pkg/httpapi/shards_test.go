package httpapi

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

type backlogStub struct{ err error }

func (s backlogStub) Backlogs(context.Context) ([]job.Layout, []job.Backlog, error) {
	return []job.Layout{{Generation: 2, Shards: 8}}, []job.Backlog{
		{Shard: job.Shard{Generation: 2, Number: 5}, Jobs: 100, More: true, Oldest: job.Ref{Tenant: job.DefaultTenant, Job: "nightly"}, Since: noon.Add(-time.Hour)},
		{Shard: job.Shard{Generation: 2, Number: 1}, Jobs: 1, Oldest: job.Ref{Tenant: "another", Job: "secret"}, Since: noon.Add(-time.Minute)},
	}, s.err
}

func TestAskingForShardsThatAreBehind(t *testing.T) {
	w := newWorld(t)
	if p := problemOf(t, w.ask("GET", "/v1/shards", "")); p.Code != job.CodeNotSupported {
		t.Errorf("without a way to look: %+v", p)
	}
	w.options.Backlogs = backlogStub{}
	const want = `{"layouts":[{"generation":2,"shards":8}],"items":[` +
		`{"generation":2,"number":5,"overdue":100,"more":true,"oldest_job":"nightly","oldest_at":"2026-07-12T11:00:00.001Z","behind_ms":3600000},` +
		`{"generation":2,"number":1,"overdue":1,"more":false,"oldest_job":null,"oldest_at":"2026-07-12T11:59:00.001Z","behind_ms":60000}]}`
	got := strings.TrimSpace(w.ask("GET", "/v1/shards", "").Body.String())
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	w.options.Backlogs = backlogStub{err: &job.Error{Code: job.CodeThrottled, Message: "full", Fix: "wait"}}
	if answer := w.ask("GET", "/v1/shards", ""); answer.Code != 429 {
		t.Errorf("got %d", answer.Code)
	}
}
