package client

import (
	"context"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// What failed for good is asked for where the API has it, and what would make
// something twice is not repeated after its answer was lost.
func TestVerbsOnWhatFailed(t *testing.T) {
	verdict := VerdictQuestion{As: "handled"}
	for name, row := range map[string]struct {
		call   func(ctx context.Context, c *Client) error
		want   string
		repeat bool
	}{
		"a list": {func(ctx context.Context, c *Client) error {
			_, err := c.Dead(ctx, DeadQuery{Job: "a", Type: "t", Since: "s", Until: "u", Codes: []string{"X", "Y"}, Statuses: []job.Status{job.Dead, job.Failed}, Open: true, Cursor: "c", Limit: 7})
			return err
		}, "GET /v1/dead?code=X&code=Y&cursor=c&job=a&limit=7&open=true&since=s&status=DEAD&status=FAILED&type=t&until=u", true},
		"a bare list": {func(ctx context.Context, c *Client) error { _, err := c.Dead(ctx, DeadQuery{}); return err }, "GET /v1/dead", true},
		"a close": {func(ctx context.Context, c *Client) error {
			_, err := c.ResolveDead(ctx, "a~1~v1", verdict)
			return err
		}, "POST /v1/dead/a~1~v1/resolve", true},
		"a verdict": {func(ctx context.Context, c *Client) error {
			_, err := c.ReviewExecution(ctx, "a~1~v1", verdict)
			return err
		},
			"POST /v1/executions/a~1~v1/resolve", true},
		"a retry now": {func(ctx context.Context, c *Client) error { _, err := c.RetryExecution(ctx, "a~1~v1"); return err }, "POST /v1/executions/a~1~v1/retry", true},
		"a replay": {func(ctx context.Context, c *Client) error {
			_, err := c.ReplayExecution(ctx, "a~1~v1", "", false)
			return err
		}, "POST /v1/executions/a~1~v1/replay", false},
		"a replay with a key": {func(ctx context.Context, c *Client) error {
			_, err := c.ReplayExecution(ctx, "a~1~v1", "k", false)
			return err
		},
			"POST /v1/executions/a~1~v1/replay", true},
		"replays without a name": {func(ctx context.Context, c *Client) error {
			_, err := c.Replays(ctx, ReplaysQuestion{All: true})
			return err
		}, "POST /v1/replays", false},
		"replays of a run": {func(ctx context.Context, c *Client) error {
			_, err := c.Replays(ctx, ReplaysQuestion{All: true, Run: "01JZXW7GB0RE2M4Q0T5N6V8XYZ"})
			return err
		}, "POST /v1/replays", true},
		"a dry run of replays": {func(ctx context.Context, c *Client) error {
			_, err := c.Replays(ctx, ReplaysQuestion{All: true, DryRun: true})
			return err
		}, "POST /v1/replays?dry_run=true", true},
	} {
		t.Run(name, func(t *testing.T) {
			s, c, _ := start(t, answer{}, answer{status: 200, body: "{}"})
			err := row.call(t.Context(), c)
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.asked[0] != row.want || (len(s.asked) == 2) != row.repeat || (err == nil) != row.repeat {
				t.Errorf("asked %v, then %v", s.asked, err)
			}
		})
	}
}
