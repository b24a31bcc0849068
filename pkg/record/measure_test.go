package record_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/observe"
	"github.com/belfry-scheduler/belfry/pkg/record"
)

type still struct{}

func (still) Now() time.Time { return noon }

// figured is what the changes give, each metric as a word and its values.
func figured(t *testing.T, changes ...record.Change) map[string]any {
	t.Helper()
	var out bytes.Buffer
	e := observe.New(observe.Options{Namespace: "Belfry/x", Out: &out, Clock: still{}, Pools: []string{"fast-io"}, Types: []string{"report"}, Reasons: lifecycle.Reasons})
	b := e.Batch()
	record.Measure(changes, b)
	b.Flush()
	all := map[string]any{}
	for line := range strings.Lines(out.String()) {
		var root map[string]any
		if err := json.Unmarshal([]byte(line), &root); err != nil {
			t.Fatal(err)
		}
		delete(root, "_aws")
		for dimension, usual := range map[string]string{"pool": "fast-io", "type": "report", "target": "webhook"} {
			if root[dimension] == usual {
				delete(root, dimension)
			}
		}
		for name, value := range root {
			if name != "reason" && root["reason"] != nil {
				name += " " + root["reason"].(string)
			}
			all[name] = value
		}
		delete(all, "reason")
	}
	return all
}

// at is so many milliseconds after noon.
func at(ms int) time.Time { return noon.Add(time.Duration(ms) * time.Millisecond) }

// life is an execution scheduled at noon and made two minutes ahead.
func life(change func(*job.Execution)) *job.Execution {
	e := &job.Execution{Ref: job.Ref{Tenant: "a", Job: "x"}, Key: job.ScheduledKey(noon), Status: job.Scheduled, Pool: "fast-io", Type: "report", Target: "webhook", Epoch: 1,
		CreatedAt: at(-120_000), AvailableAt: noon, Reason: lifecycle.Materialised}
	if change != nil {
		change(e)
	}
	return e
}

// running is the life claimed for its n-th attempt at a millisecond.
func running(n, ms int) *job.Execution {
	return life(func(e *job.Execution) {
		e.Status, e.Attempt, e.StartedAt = job.Running, n, at(40)
		e.Timeline = []job.Entry{{At: at(-120_000), To: job.Scheduled}, {At: at(ms), To: job.Running, Attempt: n}}
	})
}

// backfilled is an execution that a person's backfill made.
func backfilled(e *job.Execution) *job.Execution {
	e.Key, e.Backfill, e.Actor = job.ScheduledKey(noon.AddDate(-1, 0, 0)), "01JZXW7GB0RE2M4Q0T5N6V8XYZ", "ada"
	return e
}

// ending is what a running execution becomes at a millisecond.
func ending(from *job.Execution, status job.Status, reason job.Reason, ms int) *job.Execution {
	e := *from
	e.Status, e.Reason = status, reason
	e.Timeline = append(slices.Clone(e.Timeline), job.Entry{At: at(ms), To: status, Attempt: e.Attempt})
	return &e
}

func TestMeasure(t *testing.T) {
	slotted := running(1, 40)
	slotted.Slot = 30 * time.Millisecond
	late := running(1, 31_000)
	late.StartedAt = at(31_000)
	lost := ending(running(1, 40), job.Running, lifecycle.TakenOver, 20_000)
	lost.Attempt, lost.Lost = 2, 1
	lost.Timeline[len(lost.Timeline)-1].Attempt = 2
	poisoned := ending(running(2, 40), job.Dead, lifecycle.Poison, 30_000)
	poisoned.Lost = 1
	waiting := ending(running(1, 40), job.RetryWait, lifecycle.HandlerError, 90)
	waiting.AvailableAt = at(1000)
	span := func(count int) *job.Execution {
		return life(func(e *job.Execution) {
			e.Key, e.Status, e.Reason, e.Range = job.RangeKey(noon), job.Missed, lifecycle.JobPaused, &job.Range{Count: count}
		})
	}
	manual := running(1, 40)
	manual.Kind = job.KindManual
	for name, c := range map[string]struct {
		change record.Change
		want   map[string]any
	}{
		"made ahead of its time is no lag":                {inserted("r", life(nil)), map[string]any{"schedule_lag": 0.}},
		"made after its time is lag":                      {inserted("r", life(func(e *job.Execution) { e.CreatedAt = at(700) })), map[string]any{"schedule_lag": 700.}},
		"made again by a newer life counts anew":          {modified("r", life(func(e *job.Execution) { e.Status = job.Withdrawn }), life(func(e *job.Execution) { e.Epoch, e.CreatedAt = 2, at(5) })), map[string]any{"schedule_lag": 5.}},
		"the first claim tells its lag and its wait":      {modified("r", life(nil), running(1, 40)), map[string]any{"start_lag": 40., "late_starts": 0., "queue_wait": 40.}},
		"a jitter slot is no lag":                         {modified("r", life(func(e *job.Execution) { e.AvailableAt, e.Slot = at(30), 30*time.Millisecond }), slotted), map[string]any{"start_lag": 10., "late_starts": 0., "queue_wait": 10.}},
		"more than thirty seconds is late":                {modified("r", life(nil), late), map[string]any{"start_lag": 31000., "late_starts": 1., "queue_wait": 31000.}},
		"who was made late waits from then on":            {modified("r", life(func(e *job.Execution) { e.CreatedAt = at(30) }), running(1, 40)), map[string]any{"start_lag": 40., "late_starts": 0., "queue_wait": 10.}},
		"a manual run waits but has no time to be late":   {modified("r", life(func(e *job.Execution) { e.Kind = job.KindManual }), manual), map[string]any{"queue_wait": 40.}},
		"a backfill of last year is not a year late":      {modified("r", backfilled(life(nil)), backfilled(running(1, 40))), map[string]any{"queue_wait": 40.}},
		"nor is it when it is made":                       {inserted("r", backfilled(life(nil))), map[string]any{}},
		"a retry waits from its own time and is no start": {modified("r", waiting, running(2, 1003)), map[string]any{"queue_wait": 3.}},
		"a takeover is one, and its lease was lost":       {modified("r", running(1, 40), lost), map[string]any{"takeovers": 1., "leases_lost": 1.}},
		"a heartbeat tells nothing":                       {modified("r", running(1, 40), running(1, 40)), map[string]any{}},
		"success tells how long it ran":                   {modified("r", running(1, 40), ending(running(1, 40), job.Succeeded, lifecycle.Done, 65)), map[string]any{"succeeded": 1., "run_duration": 25.}},
		"a failed attempt that is tried again":            {modified("r", running(1, 40), waiting), map[string]any{"retries HANDLER_ERROR": 1., "run_duration": 50.}},
		"failed for good":                                 {modified("r", running(1, 40), ending(running(1, 40), job.Failed, lifecycle.Permanent, 50)), map[string]any{"failed": 1., "run_duration": 10.}},
		"given up says why":                               {modified("r", running(1, 40), ending(running(1, 40), job.Dead, lifecycle.MaxAge, 50)), map[string]any{"dead MAX_AGE": 1., "run_duration": 10.}},
		"given up after a loss has no known duration":     {modified("r", running(2, 40), poisoned), map[string]any{"dead POISON": 1., "leases_lost": 1.}},
		"canceled before it began never ran":              {modified("r", life(nil), ending(life(nil), job.Canceled, lifecycle.CancelRequested, -5)), map[string]any{"canceled": 1.}},
		"missed by itself":                                {modified("r", life(nil), ending(life(nil), job.Missed, lifecycle.Misfire, 90_000)), map[string]any{"missed MISFIRE": 1.}},
		"missed in a range counts every time":             {inserted("r", span(1440)), map[string]any{"missed JOB_PAUSED": 1440.}},
		"a range that grew counts what came to it":        {modified("r", span(3), span(5)), map[string]any{"missed JOB_PAUSED": 2.}},
		"a range that is written again is no news":        {modified("r", span(3), span(3)), map[string]any{}},
		"withdrawn is no end":                             {modified("r", life(nil), ending(life(nil), job.Withdrawn, lifecycle.Superseded, 0)), map[string]any{}},
		"what is removed tells nothing":                   {record.Change{ID: "r", Old: life(nil)}, map[string]any{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := figured(t, c.change); !maps.EqualFunc(got, c.want, func(a, b any) bool { return a == b }) {
				t.Errorf("gave %v, want %v", got, c.want)
			}
		})
	}
}

func TestARecordThatComesAgainIsMeasuredOnce(t *testing.T) {
	var out bytes.Buffer
	metrics := observe.New(observe.Options{Namespace: "Belfry/x", Out: &out, Clock: still{}, Reasons: lifecycle.Reasons})
	refused := true
	s := &shelf{refuse: func(name string) bool { return refused && strings.HasPrefix(name, "attention d") }}
	r := &record.Recorder{Lists: s, Metrics: metrics}
	e := batch()
	response, err := r.Handle(t.Context(), e)
	if err != nil || len(response.BatchItemFailures) != 1 || response.BatchItemFailures[0].ItemIdentifier != "seq3" {
		t.Fatalf("answered %v, %v; the test needs the last record to fail", response, err)
	}
	if said := out.String(); !strings.Contains(said, `"dead":1`) || strings.Contains(said, `"failed":`) {
		t.Errorf("before the failed record was taken it told %s", said)
	}
	refused = false
	e.Records = e.Records[3:]
	if _, err := r.Handle(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if said := out.String(); strings.Count(said, `"dead":1`) != 1 || strings.Count(said, `"failed":1`) != 1 {
		t.Errorf("in both deliveries it told %s; want each end once", said)
	}
}
