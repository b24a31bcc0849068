//go:build stack

package localstack

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

const (
	interval = 20 * time.Second
	// punctual is how late an attempt may start: its second, and one more.
	punctual = 2 * time.Second
	// watched is how many executions of each job are waited for.
	watched = 5
	// patience covers the five minutes that times are made ahead, and two ticks.
	patience = 8 * time.Minute
)

// town is what a test has: the deployed API, what its webhooks call, and names
// that no earlier run has used.
type town struct {
	*testing.T
	api      *client.Client
	receiver *receiver
	suffix   string
	change   *change
}

// change is the span in which the stacks were deployed anew.
type change struct{ from, to time.Time }

// interrupted is how late an execution may start whose message a function held
// that was replaced under it: the message comes back when its visibility ends.
const interrupted = 90 * time.Second

// punctuality is how late an execution of that time may start.
func (c *change) punctuality(at time.Time) time.Duration {
	if c == nil || at.Before(c.from.Add(-punctual)) || at.After(c.to.Add(punctual)) {
		return punctual
	}
	return interrupted
}

func TestWhatWasDeployedRunsJobs(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience+4*time.Minute)
	defer cancel()
	w, spans := newTown(t), newCollector(t)
	health, err := w.api.Health(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s answers: version %s, zones %s, its clock %s off", w.api.URL(), health.Version, health.TZDB, time.Until(health.Time.Time).Round(time.Millisecond))
	every := job.Schedule{Every: job.Duration(interval)}
	quick := job.Retry{MaxAttempts: 2, Base: job.Duration(time.Second)}
	log := w.put(ctx, job.Definition{Job: "log", Schedule: every, Target: job.Target{Log: &job.LogTarget{Message: "here"}}})
	steady := w.put(ctx, job.Definition{Job: "steady", Schedule: every, Target: w.hook("/steady")})
	flaky := w.put(ctx, job.Definition{Job: "flaky", Schedule: every, Target: w.hook("/flaky"), Retry: quick, Pool: "external-api"})
	calls := w.callee(ctx)
	invoked := w.put(ctx, job.Definition{Job: "invoked", Schedule: every, Target: calls, Template: true, Payload: eventOf(t, "once"), Retry: quick, Pool: "external-api"})
	broken := w.put(ctx, job.Definition{Job: "broken", Schedule: every, Target: w.hook("/broken"), Retry: quick, Paused: true})
	manual, err := w.api.RunJob(ctx, broken, "")
	if err != nil {
		t.Fatal(err)
	}

	t.Run("the command line signs in and applies a file", func(t *testing.T) { w.on(t).commanded(ctx) })
	t.Run("executions start within their second and the next", func(t *testing.T) {
		w.on(t).ranInTime(ctx, log, enough)
	})
	t.Run("a webhook is delivered once for each execution", func(t *testing.T) {
		w := w.on(t)
		w.delivered(steady, w.ranInTime(ctx, steady, enough), 1)
	})
	t.Run("a webhook that fails is tried again under a higher token", func(t *testing.T) {
		w := w.on(t)
		w.delivered(flaky, w.ranInTime(ctx, flaky, enough), 2)
	})
	t.Run("a function is invoked again after it failed, and told its attempt", func(t *testing.T) {
		w := w.on(t)
		w.delivered(invoked, w.ranInTime(ctx, invoked, enough), 2)
	})
	t.Run("a webhook that goes on failing ends DEAD", func(t *testing.T) { w.on(t).died(ctx, broken, manual.ID) })
	t.Run("its attempts are traced, and linked to one another", func(t *testing.T) { w.on(t).traced(ctx, spans, manual.ID) })
	t.Run("beside one another", func(t *testing.T) { w.on(t).beside(ctx, calls, []string{steady, flaky, invoked}) })
	t.Run("a changed template is deployed while a job runs", func(t *testing.T) { w.on(t).redeployed(ctx) })
	t.Run("what the minute's tick makes runs in time, and nothing was lost on the way", func(t *testing.T) { w.on(t).keptTicking(ctx, log) })
}

// beside sees all that waits more than it works. What is to be late by less than
// two seconds goes on meanwhile.
func (w town) beside(ctx context.Context, calls job.Target, running []string) {
	for sentence, see := range map[string]func(w town){
		"a paused job stops, and leaves nothing scheduled":                                  func(w town) { w.stops(ctx, running...) },
		"a killed container worker's execution is taken over under a higher token":          func(w town) { w.takenOver(ctx) },
		"what failed for good is found, replayed once it is mended, or closed":              func(w town) { w.mended(ctx) },
		"what a function ends with decides whether it is invoked again":                     func(w town) { w.decides(ctx, calls) },
		"handlers of one's own go on where a killed worker was, and fan out, in their pool": func(w town) { w.ownHandlers(ctx) },
	} {
		w.Run(sentence, func(t *testing.T) {
			t.Parallel()
			see(w.on(t))
		})
	}
}

func newTown(t *testing.T) town {
	t.Helper()
	return town{T: t, api: deployedAPI(t), receiver: newReceiver(t), suffix: time.Now().UTC().Format("-20060102t150405"), change: &change{}}
}

func (w town) on(t *testing.T) town {
	w.T = t
	return w
}

func (w town) hook(path string) job.Target {
	return job.Target{Webhook: &job.Webhook{URL: w.receiver.url + path}}
}

// put makes a job under a name of this run, and deletes it when the test ends.
func (w town) put(ctx context.Context, d job.Definition) string {
	w.Helper()
	d.Job += w.suffix
	if _, err := w.api.PutJob(ctx, d, client.PutOptions{IfAbsent: true}); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := w.api.DeleteJob(ctx, d.Job, 0); err != nil {
			w.Errorf("delete %s: %v", d.Job, err)
		}
	})
	return d.Job
}

// executions are those of a job, oldest first.
func (w town) executions(ctx context.Context, q client.ExecutionQuery) []client.Execution {
	w.Helper()
	var all []client.Execution
	pages := client.Every("", func(cursor string) (client.Page[client.Execution], error) {
		q.Cursor = cursor
		return w.api.Executions(ctx, q)
	})
	for e, err := range pages {
		if err != nil {
			w.Fatal(err)
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b client.Execution) int { return a.ScheduledAt.Compare(b.ScheduledAt.Time) })
	return all
}

// until asks again each second until done says so.
func (w town) until(ctx context.Context, what string, done func() bool) {
	w.Helper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for !done() {
		select {
		case <-ctx.Done():
			w.Fatalf("%s: not within %s", what, patience)
		case <-time.After(time.Second):
		}
	}
}

// foreseen says that an execution was made before its time, by a tick that saw
// it coming: what a new job misses until then may be late.
func foreseen(e client.Execution) bool { return !e.CreatedAt.After(e.ScheduledAt.Time) }

// enough says that as many ran as are watched.
func enough(ran []client.Execution) bool { return len(ran) >= watched }

// ranInTime waits until enough of the foreseen executions succeeded and holds
// each against the schedule. It answers them.
func (w town) ranInTime(ctx context.Context, name string, enough func([]client.Execution) bool) []client.Execution {
	w.Helper()
	var ran, all []client.Execution
	w.until(ctx, "the executions of "+name+" succeed", func() bool {
		all = w.executions(ctx, client.ExecutionQuery{Job: name})
		ran = slices.DeleteFunc(slices.Clone(all), func(e client.Execution) bool { return !foreseen(e) || e.Status != job.Succeeded })
		return enough(ran)
	})
	for _, e := range all {
		w.Logf("%s  %-10s attempts %d, made %s after, started %s after, ended %s after its time", e.ID, e.Status, e.Attempt,
			after(e, e.CreatedAt), after(e, e.StartedAt), after(e, e.FinishedAt))
	}
	for i, e := range ran {
		most := w.change.punctuality(e.ScheduledAt.Time)
		if lag := e.StartedAt.Sub(e.ScheduledAt.Time); lag < 0 || lag >= most {
			w.Errorf("%s started %s after its time; want 0 to %s", e.ID, lag, most)
		}
		if i == 0 {
			continue
		}
		if gap := e.ScheduledAt.Sub(ran[i-1].ScheduledAt.Time); gap != interval {
			w.Errorf("%s comes %s after the one before; want %s", e.ID, gap, interval)
		}
	}
	return ran
}

func after(e client.Execution, t client.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	return t.Sub(e.ScheduledAt.Time).Round(time.Millisecond)
}

// delivered says that each execution's webhook came as often as it had attempts,
// under one key and rising tokens, and never before its time.
func (w town) delivered(name string, ran []client.Execution, attempts int) {
	w.Helper()
	arrived := w.receiver.of(name)
	for _, e := range ran {
		got := arrived[e.ID]
		if len(got) != attempts || e.Attempt != attempts {
			w.Errorf("%s: %d deliveries and %d attempts; want %d: %+v", e.ID, len(got), e.Attempt, attempts, got)
			continue
		}
		for i, d := range got {
			if d.attempt != i+1 || d.key == "" || d.key != got[0].key || i > 0 && d.token <= got[i-1].token {
				w.Errorf("%s: delivery %d is %+v after %+v; want the next attempt, the same key and a higher token", e.ID, i+1, d, got[0])
			}
			if d.arrived.Before(e.ScheduledAt.Time) {
				w.Errorf("%s: delivered %s early", e.ID, e.ScheduledAt.Sub(d.arrived))
			}
		}
	}
}

// died waits for an execution to use up its attempts.
func (w town) died(ctx context.Context, name, id string) {
	w.Helper()
	var e client.Execution
	w.until(ctx, id+" ends DEAD", func() bool {
		var err error
		if e, err = w.api.Execution(ctx, id); err != nil {
			w.Fatal(err)
		}
		return e.Status == job.Dead
	})
	w.Logf("%s is %s: %s, %s", e.ID, e.Status, e.ErrorCode, e.ReasonText)
	if got := w.receiver.of(name)[id]; len(got) != 2 || e.Attempt != 2 {
		w.Errorf("%d deliveries and %d attempts; want 2: %+v", len(got), e.Attempt, got)
	}
}

// stops pauses jobs and sees that no later time of theirs comes.
func (w town) stops(ctx context.Context, names ...string) {
	w.Helper()
	for _, name := range names {
		if _, err := w.api.PauseJob(ctx, name); err != nil {
			w.Fatal(err)
		}
	}
	paused := time.Now()
	// Longer than a tick is apart from the next, and three times of each job.
	w.until(ctx, "a minute passes", func() bool { return time.Since(paused) > time.Minute+5*time.Second })
	for _, name := range names {
		for _, e := range w.executions(ctx, client.ExecutionQuery{Job: name, Upcoming: true}) {
			if !e.ScheduledAt.After(paused) {
				continue
			}
			w.Logf("%s  %s", e.ID, e.Status)
			if e.Status != job.Withdrawn {
				w.Errorf("%s is %s although its job was paused %s before its time", e.ID, e.Status, e.ScheduledAt.Sub(paused))
			}
		}
		for id, got := range w.receiver.of(name) {
			if got[0].scheduled.After(paused) {
				w.Errorf("%s was delivered although its job was paused before its time", id)
			}
		}
	}
}
