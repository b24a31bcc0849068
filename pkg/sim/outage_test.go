package sim_test

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	sqslocal "github.com/belfry-scheduler/belfry/pkg/localaws/sqs"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

// trouble is what goes wrong for a while in the middle of a run.
type trouble struct {
	lasts    time.Duration
	decide   func(process string, c fault.Call) fault.Action // nil = every call passes
	disturb  func(sqslocal.Sending) sqslocal.Disturbance     // for the whole run
	indexLag time.Duration                                   // for the whole run
	second   int
	ticks    int
	short    bool // also in the short form of the tests
	prove    bool // only in the long form of the tests
}

func operation(action fault.Action, operations ...string) func(string, fault.Call) fault.Action {
	return func(_ string, c fault.Call) fault.Action {
		for _, o := range operations {
			if c.Operation == o {
				return action
			}
		}
		return fault.Pass
	}
}

func service(action fault.Action, name string) func(string, fault.Call) fault.Action {
	return func(_ string, c fault.Call) fault.Action {
		if c.Service == name {
			return action
		}
		return fault.Pass
	}
}

// naming is an operation whose request names something: a table or a queue.
func naming(action fault.Action, operation, name string) func(string, fault.Call) fault.Action {
	return func(_ string, c fault.Call) fault.Action {
		if c.Operation == operation && bytes.Contains(c.Body, []byte(name+`"`)) {
			return action
		}
		return fault.Pass
	}
}

func process(action fault.Action, names ...string) func(string, fault.Call) fault.Action {
	return func(p string, _ fault.Call) fault.Action {
		for _, name := range names {
			if p == name {
				return action
			}
		}
		return fault.Pass
	}
}

var troubles = map[string]trouble{
	"nothing at all, a platform tick at :59 and another": {second: 59, ticks: 2},
	"SQS takes no message for 20 minutes":                {lasts: 20 * time.Minute, decide: operation(fault.FailBefore, "SendMessageBatch")},
	"SQS takes messages and says that it did not":        {lasts: 20 * time.Minute, decide: operation(fault.LoseResponse, "SendMessageBatch")},
	"the work queue takes no message for 20 minutes":     {short: true, lasts: 20 * time.Minute, decide: naming(fault.FailBefore, "SendMessageBatch", "belfry-fast-io")},
	"heads cannot be updated for 20 minutes":             {short: true, lasts: 20 * time.Minute, decide: naming(fault.Throttle, "UpdateItem", "belfry-jobs")},
	"executions cannot be updated for 20 minutes":        {prove: true, lasts: 20 * time.Minute, decide: naming(fault.Throttle, "UpdateItem", "belfry-executions")},
	"SQS is down for 10 minutes":                         {lasts: 10 * time.Minute, decide: service(fault.FailBefore, "SQS")},
	"SQS is down for 40 minutes":                         {prove: true, lasts: 40 * time.Minute, decide: service(fault.FailBefore, "SQS")},
	"DynamoDB is down for 10 minutes":                    {lasts: 10 * time.Minute, decide: service(fault.FailBefore, "DynamoDB")},
	"DynamoDB is down for 40 minutes":                    {prove: true, lasts: 40 * time.Minute, decide: service(fault.FailBefore, "DynamoDB")},
	"updates are throttled for 12 minutes":               {prove: true, lasts: 12 * time.Minute, decide: operation(fault.Throttle, "UpdateItem")},
	"queries are throttled for 12 minutes":               {prove: true, lasts: 12 * time.Minute, decide: operation(fault.Throttle, "Query")},
	"strong reads are throttled for 12 minutes":          {prove: true, lasts: 12 * time.Minute, decide: operation(fault.Throttle, "GetItem")},
	"batched reads are throttled for 12 minutes":         {prove: true, lasts: 12 * time.Minute, decide: operation(fault.Throttle, "BatchGetItem")},
	"no message can be deleted for 25 minutes":           {lasts: 25 * time.Minute, decide: operation(fault.FailBefore, "DeleteMessageBatch")},
	"no message can be hidden for 25 minutes":            {prove: true, lasts: 25 * time.Minute, decide: operation(fault.Throttle, "ChangeMessageVisibilityBatch")},
	"every update is applied and its answer lost":        {lasts: 15 * time.Minute, decide: operation(fault.LoseResponse, "UpdateItem")},
	"every put is applied and its answer lost":           {prove: true, lasts: 15 * time.Minute, decide: operation(fault.LoseResponse, "PutItem")},
	"every delete is applied and its answer lost":        {prove: true, lasts: 15 * time.Minute, decide: operation(fault.LoseResponse, "DeleteMessageBatch")},
	"nobody scans for 15 minutes":                        {prove: true, lasts: 15 * time.Minute, decide: process(fault.FailBefore, "scan", "scan-1")},
	"nobody ticks for 10 minutes":                        {prove: true, lasts: 10 * time.Minute, decide: process(fault.FailBefore, "tick")},
	"nobody ticks for two hours":                         {short: true, lasts: 2 * time.Hour, decide: process(fault.FailBefore, "tick")},
	"no worker reaches anything for 15 minutes":          {prove: true, lasts: 15 * time.Minute, decide: process(fault.FailBefore, "worker-fast-ioa", "worker-fast-iob")},
	"every call of the scanners takes 8 seconds":         {lasts: 30 * time.Minute, decide: process(fault.Delay(8*time.Second), "scan", "scan-1")},
	"every call of the workers takes 4 seconds":          {prove: true, lasts: 30 * time.Minute, decide: process(fault.Delay(4*time.Second), "worker-fast-ioa", "worker-fast-iob")},
	"indexes lag by half a second":                       {prove: true, indexLag: 500 * time.Millisecond},
	"indexes lag by 90 seconds":                          {short: true, indexLag: 90 * time.Second},
	"every message is delivered three times":             {prove: true, disturb: func(sqslocal.Sending) sqslocal.Disturbance { return sqslocal.Disturbance{Copies: 2} }},
	"every third message is late by 100 seconds": {prove: true, disturb: func(s sqslocal.Sending) sqslocal.Disturbance {
		if s.N%3 == 0 {
			return sqslocal.Disturbance{Late: 100 * time.Second}
		}
		return sqslocal.Disturbance{}
	}},
	"messages are doubled and late by turns": {disturb: func(s sqslocal.Sending) sqslocal.Disturbance {
		return sqslocal.Disturbance{Copies: s.N % 2, Late: time.Duration(s.N%5) * 20 * time.Second}
	}},
}

// During and after each trouble, with two scanners throughout: every time has
// one disposition, what is told as missed did not run, and afterwards starts are
// prompt and nothing is left behind.
func TestALongTroubleEndsWithEveryTimeToldOnceAndNothingLeftBehind(t *testing.T) {
	for name, trouble := range troubles {
		if trouble.prove && !prove() || testing.Short() && trouble.lasts != 10*time.Minute {
			continue
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { trouble.play(t) })
		})
	}
}

func (x trouble) play(t *testing.T) {
	begun := time.Now()
	from := begun.Add(15*time.Minute + 20*time.Second)
	until := from.Add(x.lasts)
	w := world(t, sim.Options{Work: flaky, Second: x.second, Disturb: x.disturb, Decide: func(p string, c fault.Call) fault.Action {
		if x.decide == nil || time.Now().Before(from) || !time.Now().Before(until) {
			return fault.Pass
		}
		return x.decide(p, c)
	}})
	w.Backend.SetIndexLag(x.indexLag)
	w.StartCrowd(t.Context(), 2, max(x.ticks, 1))
	retry := job.Retry{MaxAttempts: 20, MaxLost: 20}
	refs := []job.Ref{
		put(t, w, job.Definition{Job: "minutely", Schedule: job.Schedule{Cron: "* * * * *", Zone: "Europe/Berlin"}, Retry: retry}),
		put(t, w, job.Definition{Job: "often", Schedule: job.Schedule{Every: job.Duration(30 * time.Second)}, Retry: retry}),
		put(t, w, job.Definition{Job: "seventh", Schedule: job.Schedule{Every: job.Duration(7 * time.Minute)}, Retry: retry}),
	}
	time.Sleep(time.Until(until) + 28*time.Minute)
	upto := time.Now()
	time.Sleep(time.Minute)
	pauseAll(t, w, refs)
	time.Sleep(10 * time.Minute)
	w.Stop()
	for _, ref := range refs {
		if err := w.Check(t.Context(), ref, begun, upto); err != nil {
			t.Errorf("%s: %.2000v", ref, err)
		}
		judgeCounts(t, w, ref)
	}
	judgeRest(t, w)
	if x.disturb == nil && x.indexLag == 0 {
		if lag, of := startLag(w, until.Add(10*time.Minute), upto); lag > time.Second {
			t.Errorf("ten minutes after the trouble %s still began %s late", of, lag)
		}
	}
}
