//go:build stack

package localstack

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// mended does what docs/dead-letters.md tells a person to do in the morning: two
// executions have failed for good; one is replayed once its cause is gone, the
// other is closed.
func (w town) mended(ctx context.Context) {
	w.Helper()
	name := w.put(ctx, job.Definition{Job: "refused", Schedule: job.Schedule{Every: job.Duration(time.Hour)}, Paused: true, Target: w.hook("/refusing")})
	one, other := w.run(ctx, name), w.run(ctx, name)
	run, _ := w.command(ctx)
	w.until(ctx, "both are listed as dead letters", func() bool {
		open := w.dead(run, "--job", name)
		return len(open) == 2 && open[one.ID].Open && open[other.ID].Open
	})
	for id, d := range w.dead(run, "--job", name, "--code", "HTTP_400") {
		if got := w.receiver.of(name)[id]; d.Status != job.Failed || d.Attempt != 1 || len(got) != 1 {
			w.Errorf("%s is %s after %d attempts and %d deliveries; want FAILED after one", id, d.Status, d.Attempt, len(got))
		}
	}
	if _, err := w.api.PatchJob(ctx, name, json.RawMessage(`{"target":{"webhook":{"url":"`+w.receiver.url+`/steady"}}}`), client.PutOptions{}); err != nil {
		w.Fatal(err)
	}
	w.replayed(ctx, run, one)
	run("dead", "resolve", other.ID, "--as", "handled", "--note", "sent by hand")
	if open := w.dead(run, "--job", name); len(open) != 0 {
		w.Errorf("%+v still wait for a person", open)
	}
	all := w.dead(run, "--job", name, "--closed")
	closed := all[other.ID].Resolution
	if len(all) != 2 || closed == nil || closed.As != "handled" || closed.Note != "sent by hand" || closed.By == "" || all[one.ID].Resolution != nil {
		w.Errorf("what was dealt with is told as %+v", all)
	}
	if got := w.receiver.of(name); len(got) != 3 || len(got[other.ID]) != 1 {
		w.Errorf("%d executions were delivered: what was closed is not to run again", len(got))
	}
}

// replayed replays a dead letter at the command line and sees the mended job take it
// as the same business action.
func (w town) replayed(ctx context.Context, run func(args ...string) string, dead client.Execution) {
	w.Helper()
	var replay client.Execution
	key := "again" + w.suffix
	w.said(run("replay", dead.ID, "--idempotency-key", key, "--json"), &replay)
	if again, err := w.api.ReplayExecution(ctx, dead.ID, key, false); err != nil || again.ID != replay.ID {
		w.Errorf("the same word gives %s and %v; want %s", again.ID, err, replay.ID)
	}
	replay = w.ended(ctx, replay.ID)
	dead, err := w.api.Execution(ctx, dead.ID)
	if err != nil {
		w.Fatal(err)
	}
	if replay.Kind != "replay" || string(replay.ReplayOf) != dead.ID || !slices.Equal(dead.ReplayedBy, []string{replay.ID}) || dead.Status != job.Failed {
		w.Errorf("%s (%s) replays %q; %s (%s) is replayed by %q", replay.ID, replay.Kind, replay.ReplayOf, dead.ID, dead.Status, dead.ReplayedBy)
	}
	if !replay.ScheduledAt.Equal(dead.ScheduledAt.Time) || replay.Revision != dead.Revision+1 {
		w.Errorf("the replay stands for %s under revision %d; want %s and the revision after %d", replay.ScheduledAt, replay.Revision, dead.ScheduledAt, dead.Revision)
	}
	got := w.receiver.of(dead.Job)
	before, after := got[dead.ID], got[replay.ID]
	if len(before) != 1 || len(after) != 1 || before[0].key == "" || after[0].key != before[0].key {
		w.Errorf("delivered %+v, and by the replay %+v; want each once, under one key", before, after)
	}
}

// dead is what the command line lists, by id.
func (w town) dead(run func(args ...string) string, filters ...string) map[string]client.DeadLetter {
	w.Helper()
	var page client.Page[client.DeadLetter]
	w.said(run(append([]string{"dead", "list", "--json"}, filters...)...), &page)
	found := map[string]client.DeadLetter{}
	for _, d := range page.Items {
		found[d.ID] = d
	}
	return found
}

// said reads the JSON that a command printed.
func (w town) said(out string, into any) {
	w.Helper()
	if err := json.Unmarshal([]byte(out[max(strings.Index(out, "{"), 0):]), into); err != nil {
		w.Fatalf("%v: %s", err, out)
	}
}
