package functions_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/belfry-scheduler/belfry/functions"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// batch is the event of a queue whose messages have these bodies; their ids
// are m0, m1, ….
func batch(bodies ...string) events.SQSEvent {
	var e events.SQSEvent
	for n, body := range bodies {
		e.Records = append(e.Records, events.SQSMessage{MessageId: fmt.Sprintf("m%d", n), Body: body, EventSource: "aws:sqs",
			EventSourceARN: "arn:aws:sqs:us-east-1:000000000000:belfry-scan", Attributes: map[string]string{"ApproximateReceiveCount": "1"}})
	}
	return e
}

func stayed(r events.SQSEventResponse) []string {
	var ids []string
	for _, f := range r.BatchItemFailures {
		ids = append(ids, f.ItemIdentifier)
	}
	return ids
}

const (
	newerTick = `{"schema":99,"minute":{"moved":true}}`
	tickNow   = `{"schema":1,"minute":"2026-07-12T01:30:00Z","added_later":[1]}`
	garbage   = `{"hello":"world"}`
)

func TestTickIsWhateverInvokesIt(t *testing.T) {
	encoded := func(e events.SQSEvent) string {
		text, _ := json.Marshal(e)
		return string(text)
	}
	for _, c := range []struct {
		name, payload string
		ticks         bool
		stays         []string
	}{
		{"an event of the schedule ticks", `{"version":"0","source":"aws.scheduler","detail-type":"Scheduled Event","detail":"{}"}`, true, nil},
		{"an input of one's own ticks", `"now"`, true, nil},
		{"an empty object ticks", `{}`, true, nil},
		{"a message of the tick queue ticks", encoded(batch(tickNow)), true, nil},
		{"a message that is none of ours is dropped and does not tick", encoded(batch(garbage)), false, nil},
		{"a message of a newer build stays and does not tick", encoded(batch(newerTick)), false, []string{"m0"}},
		{"one good message of a batch is enough", encoded(batch(garbage, newerTick, tickNow)), true, []string{"m1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTown(t)
				response, err := functions.Tick(w.Installation)(t.Context(), json.RawMessage(c.payload))
				if err != nil || !slices.Equal(stayed(response), c.stays) {
					t.Errorf("answered %v, %v; want %v to stay", stayed(response), err, c.stays)
				}
				scans, ticks := w.messages(w.Queues.Names.Scan()), w.messages(w.Queues.Names.Tick())
				if want := map[bool]int{true: 4}[c.ticks]; scans != want || (ticks == 1) != c.ticks {
					t.Errorf("%d scans and %d next ticks were sent, want %d scans for 4 shards and the next tick: %v", scans, ticks, want, c.ticks)
				}
			})
		})
	}
}

func TestTheSecondTickOfAMinuteDoesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		tick := functions.Tick(w.Installation)
		for range 2 {
			if _, err := tick(t.Context(), json.RawMessage(`{}`)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Second)
		}
		if scans := w.messages(w.Queues.Names.Scan()); scans != 4 {
			t.Errorf("%d scans were sent in one minute, want 4", scans)
		}
	})
}

func TestATickThatFailsIsSeenByThePlatform(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		w.fail("PutItem")
		if _, err := functions.Tick(w.Installation)(t.Context(), json.RawMessage(`{}`)); err == nil {
			t.Error("the tick answered as if it had fanned out")
		}
	})
}

func scanMessage(generation, from, to int) string {
	return fmt.Sprintf(`{"schema":1,"generation":%d,"from":%d,"to":%d,"minute":%q,"sent_at":%q,"added_later":true}`, generation, from, to,
		time.Now().Format(time.RFC3339), time.Now().Format(time.RFC3339))
}

func TestScanTakesEachMessageByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		ref := w.put(job.Definition{Job: "soon", Schedule: job.Schedule{At: time.Now().Add(10 * time.Minute)}}, "none")
		time.Sleep(6 * time.Minute)
		scan := functions.Scan(w.Installation)
		e := batch(scanMessage(1, 0, 2), garbage, `{"schema":2}`, scanMessage(1, 0, 1<<40), scanMessage(1, 3, 3), "")
		response, err := scan(t.Context(), e)
		if err != nil || !slices.Equal(stayed(response), []string{"m2"}) {
			t.Errorf("answered %v, %v; want only the newer message to stay", stayed(response), err)
		}
		if n := len(w.upcoming(ref)); n != 1 {
			t.Errorf("%d executions were made; the ranges 0-2 and 3-3 cover all four shards", n)
		}
	})
}

func TestAScanThatFailsComesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		w.fail("Query")
		response, err := functions.Scan(w.Installation)(t.Context(), batch(garbage, scanMessage(1, 0, 3)))
		if err != nil || !slices.Equal(stayed(response), []string{"m1"}) {
			t.Errorf("answered %v, %v; want the scan that failed to stay", stayed(response), err)
		}
	})
}

// The sender's clock may be hours off; the queue's is the same for everybody.
func TestTheAgeOfAScanIsToldByTheQueue(t *testing.T) {
	for sentence, c := range map[string]struct {
		said, took time.Duration // ago
		scanned    bool
	}{
		"a sender two hours behind":   {2 * time.Hour, time.Second, true},
		"a sender two hours ahead":    {-2 * time.Hour, time.Second, true},
		"an old message says so":      {2 * time.Minute, 2 * time.Minute, false},
		"whatever its sender says":    {0, 100 * time.Second, false},
		"a clock of one's own behind": {0, -10 * time.Second, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTown(t)
				now := time.Now()
				message := fmt.Sprintf(`{"schema":1,"generation":1,"from":0,"to":3,"minute":%q,"sent_at":%q}`, now.Format(time.RFC3339), now.Add(-c.said).Format(time.RFC3339Nano))
				e := batch(message)
				e.Records[0].Attributes["SentTimestamp"] = fmt.Sprint(now.Add(-c.took).UnixMilli())
				if response, err := functions.Scan(w.Installation)(t.Context(), e); err != nil || len(response.BatchItemFailures) > 0 {
					t.Fatal(response, err)
				}
				done := w.figures.read(t)["scans_completed"]
				if scanned := done != nil && done.sum == 1; scanned != c.scanned {
					t.Errorf("it was scanned: %v, want %v", scanned, c.scanned)
				}
			})
		})
	}
}
