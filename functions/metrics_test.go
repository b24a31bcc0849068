package functions_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/functions"
	"github.com/belfry-scheduler/belfry/pkg/archive"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	"github.com/belfry-scheduler/belfry/pkg/observe"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// figures keeps what the functions of a town tell, as CloudWatch would read it.
type figures struct {
	mu    sync.Mutex
	lines []string
}

func (f *figures) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lines = append(f.lines, strings.Split(strings.TrimSuffix(string(p), "\n"), "\n")...)
	return len(p), nil
}

// told is what was told of one metric.
type told struct {
	unit       observe.Unit
	values     int
	sum        float64
	dimensions map[string]bool // sets, joined by commas
}

// read reads every line as CloudWatch does: only what its directives name.
func (f *figures) read(t *testing.T) map[string]*told {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	all := map[string]*told{}
	for _, line := range f.lines {
		var root map[string]json.RawMessage
		var meta struct {
			CloudWatchMetrics []struct {
				Namespace  string
				Dimensions [][]string
				Metrics    []struct {
					Name string
					Unit observe.Unit
				}
			}
		}
		if err := errors.Join(json.Unmarshal([]byte(line), &root), json.Unmarshal(root["_aws"], &meta)); err != nil || len(meta.CloudWatchMetrics) != 1 {
			t.Fatalf("line %s: %v", line, err)
		}
		for _, m := range meta.CloudWatchMetrics[0].Metrics {
			if all[m.Name] == nil {
				all[m.Name] = &told{unit: m.Unit, dimensions: map[string]bool{}}
			}
			one := all[m.Name]
			for _, v := range numbers(t, root[m.Name]) {
				one.values, one.sum = one.values+1, one.sum+v
			}
			for _, set := range meta.CloudWatchMetrics[0].Dimensions {
				one.dimensions[strings.Join(set, ",")] = true
			}
		}
	}
	return all
}

// numbers are a metric's values: one number, or a list.
func numbers(t *testing.T, raw json.RawMessage) []float64 {
	t.Helper()
	var one float64
	if json.Unmarshal(raw, &one) == nil {
		return []float64{one}
	}
	var list []float64
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatalf("values %s: %v", raw, err)
	}
	return list
}

// aDayOfTrouble runs a town in which everything happens that there is a figure
// for.
func aDayOfTrouble(w *town) {
	t := w.t
	w.put(job.Definition{Job: "pulse", Type: "report", Schedule: job.Schedule{Every: job.Duration(30 * time.Second)}}, "count")
	w.Skew.Sample(time.Now(), time.Now(), time.Now().Add(-7*time.Second)) // this machine is ahead
	time.Sleep(10 * time.Minute)                                          // nothing scans: pulse is found late
	in := func(d time.Duration) job.Schedule { return job.Schedule{At: time.Now().Add(d)} }
	twice := job.Retry{MaxAttempts: 2, Base: job.Duration(time.Second), Max: job.Duration(time.Second)}
	w.put(job.Definition{Job: "stubborn", Schedule: in(70 * time.Second), Retry: twice}, "fail")
	w.put(job.Definition{Job: "hopeless", Schedule: in(70 * time.Second)}, "refuse")
	unwanted := w.put(job.Definition{Job: "unwanted", Schedule: in(4 * time.Minute)}, "count")
	if _, err := w.Control.Cancel(t.Context(), unwanted, w.upcoming(unwanted)[0].Key, "ada"); err != nil {
		t.Fatal(err)
	}
	w.put(job.Definition{Job: "by-hand", Schedule: job.Schedule{Every: job.Duration(240 * time.Hour)}}, "count")
	if _, err := w.Control.RunNow(t.Context(), control.RunRequest{Ref: job.Ref{Tenant: job.DefaultTenant, Job: "by-hand"}, Actor: "ada"}); err != nil {
		t.Fatal(err)
	}
	w.heldBack(in(70 * time.Second))
	w.sweepable(in(240 * time.Hour))
	w.archiveStrange()
	w.deadLetter("fast-io")
	w.send(w.Queues.Names.DeadLetter("fast-io"), garbage)
	w.send(w.Queues.Names.Scan(), scanMessage(1, 0, 3))
	scans := w.Queues.Queue(w.Queues.Names.Scan())
	if received, err := scans.Receive(t.Context(), 1, time.Second, time.Second); err != nil || len(received) != 1 {
		t.Fatal(received, err) // whoever took it the first time is lost
	}
	time.Sleep(2 * time.Second)
	w.put(job.Definition{Job: "cut-off", Schedule: in(150 * time.Second)}, "count")
	begin := time.Now()
	w.mu.Lock()
	w.decide = func(c fault.Call) fault.Action {
		within := func(from, upto time.Duration) bool { return time.Since(begin) >= from && time.Since(begin) < upto }
		lost := c.Operation == "UpdateItem" && strings.Contains(string(c.Body), "lease_owner = :owner AND") && within(150*time.Second, 166*time.Second)
		if lost || c.Operation == "Query" && within(170*time.Second, 190*time.Second) {
			return fault.FailBefore
		}
		return fault.Pass
	}
	w.mu.Unlock()
	var seen calls
	w.run(8*time.Minute+10*time.Second, map[string]worker.Handler{"count": func(ctx context.Context, a *worker.Attempt) error {
		time.Sleep(5 * time.Millisecond)
		return seen.handler(nil)(ctx, a)
	}, "fail": seen.handler(errors.New("no answer")), "refuse": seen.handler(worker.Permanent(errors.New("no such account")))})
}

// heldBack leaves a job whose receiver is known to be down.
func (w *town) heldBack(some job.Schedule) {
	w.t.Helper()
	ref, now := job.Ref{Tenant: job.DefaultTenant, Job: "held-back"}, time.Now()
	d := job.Definition{Job: ref.Job, Schedule: some, Target: job.Target{Webhook: &job.Webhook{URL: "https://down.example.com/orders"}}}
	if _, err := w.Control.Put(w.t.Context(), control.PutRequest{Ref: ref, Definition: d, Actor: "ada"}); err != nil {
		w.t.Fatal(err)
	}
	b, err := w.Store.NoteFailure(w.t.Context(), job.BreakerFailure{Ref: ref, Resource: "https://down.example.com:443", At: now, Code: "HTTP_503", Within: time.Minute})
	if err == nil {
		_, err = w.Store.OpenBreaker(w.t.Context(), b, job.BreakerOpening{At: now, Until: now.Add(time.Hour), Wait: time.Minute, Code: "HTTP_503"})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// archiveStrange hands the archive a record of an execution of a kind that this
// build does not know.
func (w *town) archiveStrange() {
	w.t.Helper()
	w.Environment.ArchiveBucket = "belfry-archive"
	handler, err := functions.Archive(w.Installation, func(aws.Config, string) archive.Objects { return taking{} })
	if err != nil {
		w.t.Fatal(err)
	}
	image := map[string]events.DynamoDBAttributeValue{"pk": events.NewStringAttribute("default/x"), "sk": events.NewStringAttribute("20260712T013000Z#q"),
		"timeline": events.NewListAttribute([]events.DynamoDBAttributeValue{events.NewStringAttribute("?")})}
	if answer, err := handler(w.t.Context(), events.DynamoDBEvent{Records: []events.DynamoDBEventRecord{{EventID: "e", Change: events.DynamoDBStreamRecord{NewImage: image}}}}); err != nil || len(answer.BatchItemFailures) > 0 {
		w.t.Fatal(answer, err)
	}
}

// sweepable leaves a job to be purged, and one whose time moves with the database of
// a build that is about to tick.
func (w *town) sweepable(some job.Schedule) {
	over := w.put(job.Definition{Job: "over", Schedule: some}, "count")
	if _, err := w.Control.Delete(w.t.Context(), over, "ada", 0); err != nil {
		w.t.Fatal(err)
	}
	w.Sweep.Kept = 0
	w.put(job.Definition{Job: "in-berlin", Schedule: job.Schedule{Cron: "0 9 1 6 *", Zone: "Europe/Berlin"}}, "count")
	archive, err := os.ReadFile(filepath.Join("..", "pkg", "schedule", "testdata", "zones", "before.zip"))
	if err != nil {
		w.t.Fatal(err)
	}
	if w.Sweep.Zones, err = schedule.OpenZones("9999a", archive); err != nil {
		w.t.Fatal(err)
	}
}

// taking is a bucket that takes everything.
type taking struct{}

func (taking) Put(context.Context, string, []byte) error { return nil }

// send puts a message into a queue.
func (w *town) send(queue, body string) {
	w.t.Helper()
	url, err := w.clients.SQS.GetQueueUrl(w.t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String(queue)})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.clients.SQS.SendMessage(w.t.Context(), &sqs.SendMessageInput{QueueUrl: url.QueueUrl, MessageBody: aws.String(body)}); err != nil {
		w.t.Fatal(err)
	}
}

func TestWhatIsListedIsEmittedAndWhatIsEmittedIsListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		aDayOfTrouble(w)
		emitted := w.figures.read(t)
		for _, m := range observe.Metrics {
			one := emitted[m.Name]
			if one == nil {
				t.Errorf("%s is on the list and was never emitted", m.Name)
				continue
			}
			if one.unit != m.Unit || one.sum == 0 {
				t.Errorf("%s was emitted %d times in %s, %v in all; want some in %s: the trouble it counts was there", m.Name, one.values, one.unit, one.sum, m.Unit)
			}
			for _, set := range m.Sets() {
				words := make([]string, len(set))
				for i, d := range set {
					words[i] = string(d)
				}
				if !one.dimensions[strings.Join(words, ",")] {
					t.Errorf("%s is listed as split by %v and was never emitted so", m.Name, words)
				}
				delete(one.dimensions, strings.Join(words, ","))
			}
			if len(one.dimensions) > 0 {
				t.Errorf("%s was emitted by %v, which the list does not know", m.Name, one.dimensions)
			}
			delete(emitted, m.Name)
		}
		for name := range emitted {
			t.Errorf("%s was emitted and is not on the list", name)
		}
	})
}

func TestAFunctionWritesItsFiguresAmongItsLogLines(t *testing.T) {
	for setting, want := range map[string]bool{"on": true, "off": false} {
		t.Run(setting, func(t *testing.T) {
			w := newTown(t)
			ctx, stop := context.WithCancel(t.Context())
			api, answers := runtimeAPI(t, `{"source":"aws.scheduler"}`)
			output := start(ctx, t, "tick", w, api.URL, "BELFRY_SHARDS=4", "BELFRY_METRICS="+setting)
			if got := <-answers; strings.HasPrefix(got, "error") {
				t.Errorf("the tick failed: %s", got)
			}
			stop()
			said := false
			for line := range strings.Lines(output()) {
				said = said || strings.HasPrefix(line, `{"_aws":{`) && strings.HasSuffix(line, `"ticks":1}`+"\n")
			}
			if said != want {
				t.Errorf("a line of figures was written: %v, want %v", said, want)
			}
		})
	}
}

func TestFiguresAgreeWithTheExecutions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		aDayOfTrouble(w)
		want := map[string]float64{}
		for _, e := range w.executions(job.Ref{Tenant: job.DefaultTenant}) {
			switch {
			case e.Range != nil:
				want["missed"] += float64(e.Range.Count)
			case e.Status == job.Missed:
				want["missed"]++
			default:
				want[strings.ToLower(string(e.Status))]++
			}
			want["leases_lost"] += float64(e.Lost)
			if e.Kind == job.KindScheduled && e.Attempt > 0 {
				want["starts"]++
			}
		}
		got := w.figures.read(t)
		for _, name := range []string{"succeeded", "failed", "dead", "canceled", "missed", "leases_lost"} {
			if got[name] == nil || got[name].sum != want[name] || want[name] == 0 {
				t.Errorf("figure %s is %+v, the executions say %v", name, got[name], want[name])
			}
		}
		if starts := got["start_lag"]; float64(starts.values) != want["starts"] {
			t.Errorf("start_lag has %d values, %v executions began", starts.values, want["starts"])
		}
	})
}
