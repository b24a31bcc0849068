package events_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/queue"
)

// halfPastOne is the scheduled time of every sample.
var halfPastOne = time.Date(2026, 7, 12, 1, 30, 0, 0, time.UTC)

// nightly is the job of every sample.
var nightly = job.Ref{Tenant: "acme", Job: "nightly"}

var parcel = job.Parcel{Ref: nightly, Key: job.ScheduledKey(halfPastOne), Epoch: 7, RestoreEpoch: 1, Pool: "fast-io", NotBefore: halfPastOne}

// message is one message that Belfry sends to itself.
type message struct {
	folder string
	write  func(t *testing.T) string
	open   func(body string) (any, error)
	want   any
}

var messages = []message{
	{folder: "work-message", write: func(*testing.T) string { return queue.Seal(parcel) },
		open: func(body string) (any, error) { return queue.Open(body) },
		want: queue.Work{Message: lifecycle.Message{Ref: nightly, Key: job.ScheduledKey(halfPastOne), Epoch: 7, RestoreEpoch: 1}, NotBefore: halfPastOne}},
	{folder: "scan-message", write: func(t *testing.T) string {
		return sent(t, queue.Names.Scan, func(c *queue.Client) error {
			return errors.Join(c.SendScans(t.Context(), []queue.ScanMessage{{Generation: 1, From: 16, To: 31, Minute: halfPastOne, SentAt: halfPastOne.Add(17250 * time.Millisecond)}})...)
		})
	}, open: func(body string) (any, error) { return queue.OpenScan(body) },
		want: queue.ScanMessage{Schema: 1, Generation: 1, From: 16, To: 31, Minute: halfPastOne, SentAt: halfPastOne.Add(17250 * time.Millisecond)}},
	{folder: "tick-message", write: func(t *testing.T) string {
		return sent(t, queue.Names.Tick, func(c *queue.Client) error {
			return c.SendTick(t.Context(), queue.TickMessage{Minute: halfPastOne}, 0)
		})
	}, open: func(body string) (any, error) { return queue.OpenTick(body) },
		want: queue.TickMessage{Schema: 1, Minute: halfPastOne}},
}

// sent is the body of the one message that send puts into a queue.
func sent(t *testing.T, name func(queue.Names) string, send func(*queue.Client) error) string {
	t.Helper()
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	c := queue.New(sqs.NewFromConfig(backend.Config()), queue.Names{}, clock.System{})
	if err := errors.Join(c.Ensure(t.Context(), []string{"fast-io"}), send(c)); err != nil {
		t.Fatal(err)
	}
	received, err := c.Queue(name(c.Names)).Receive(t.Context(), 10, 0, time.Minute)
	if err != nil || len(received) != 1 {
		t.Fatalf("received %d messages, %v; want the one sent", len(received), err)
	}
	return received[0].Body
}

func TestTheSampleIsWhatTheWriterWrites(t *testing.T) {
	for _, m := range messages {
		t.Run(m.folder, func(t *testing.T) {
			var indented bytes.Buffer
			if err := json.Indent(&indented, []byte(m.write(t)), "", "  "); err != nil {
				t.Fatal(err)
			}
			golden(t, m.folder+"/sample.json", indented.Bytes())
		})
	}
}

func TestTheReaderReadsTheSample(t *testing.T) {
	for _, m := range messages {
		for _, name := range []string{"sample.json", "unknown-members.json"} {
			t.Run(m.folder+"/"+name, func(t *testing.T) {
				got, err := m.open(string(sample(t, m.folder+"/"+name)))
				if err != nil || !reflect.DeepEqual(got, m.want) {
					t.Errorf("read %+v, %v; want %+v", got, err, m.want)
				}
			})
		}
	}
}

func TestANewerSchemaIsSeenAsSuch(t *testing.T) {
	for _, m := range messages {
		t.Run(m.folder, func(t *testing.T) {
			if got, err := m.open(string(sample(t, m.folder+"/newer-schema.json"))); !errors.Is(err, queue.ErrNewerSchema) {
				t.Errorf("read %+v, %v; want it refused as newer", got, err)
			}
		})
	}
}
