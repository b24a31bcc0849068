package sqs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
	"github.com/belfry-scheduler/belfry/pkg/localaws/sqs"
)

// modelMessage is a message as the model sees it: a row of a list, looked at
// from one end to the other.
type modelMessage struct {
	body      string
	sent      time.Time
	visibleAt time.Time
	receives  int
	hidden    bool // in flight rather than delayed, while it is not visible
	received  time.Time
	handle    string // of the latest receipt
	dead      bool
}

// model is two queues, the second of which takes what the first has delivered
// three times.
type model struct {
	*rapid.T
	service  *sqs.Service
	engine   kv.Engine
	messages []*modelMessage
	handles  []string // all ever given out by the first queue
	sends    int
}

const (
	modelQueue     = "http://x/000000000000/q"
	modelDead      = "http://x/000000000000/dead"
	modelReceives  = 3
	modelRetention = 10 * time.Minute
)

func (m *model) call(operation string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		m.Fatal(err)
	}
	answer, err := m.service.ServeOperation(context.Background(), operation, body)
	if err == nil && out != nil {
		err = json.Unmarshal(answer, out)
	}
	return err
}

func (m *model) must(operation string, in, out any) {
	if err := m.call(operation, in, out); err != nil {
		m.Fatalf("%s: %v", operation, err)
	}
}

type object = map[string]any

func newModel(t *rapid.T) *model {
	m := &model{T: t, engine: kv.NewMemory()}
	m.reopen(t)
	m.must("CreateQueue", object{"QueueName": "dead", "Attributes": object{"MessageRetentionPeriod": "600"}}, nil)
	m.must("CreateQueue", object{"QueueName": "q", "Attributes": object{
		"MessageRetentionPeriod": "600",
		"RedrivePolicy":          fmt.Sprintf(`{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead","maxReceiveCount":%d}`, modelReceives),
	}}, nil)
	return m
}

func (m *model) reopen(t *rapid.T) {
	service, err := sqs.New(m.engine, sqs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m.service = service
}

func (m *model) sleep(t *rapid.T) {
	time.Sleep(time.Duration(rapid.IntRange(1, 60_000).Draw(t, "milliseconds")) * time.Millisecond)
}

func (m *model) send(t *rapid.T) {
	delay := rapid.SampledFrom([]int{0, 0, 1, 30}).Draw(t, "delay")
	m.sends++
	body := fmt.Sprint(m.sends)
	m.must("SendMessage", object{"QueueUrl": modelQueue, "MessageBody": body, "DelaySeconds": delay}, nil)
	m.messages = append(m.messages, &modelMessage{body: body, sent: time.Now(), visibleAt: time.Now().Add(seconds(delay))})
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

func (m *model) receive(t *rapid.T) {
	limit, visibility := rapid.IntRange(1, 10).Draw(t, "limit"), rapid.SampledFrom([]int{0, 5, 60}).Draw(t, "visibility")
	var out struct {
		Messages []struct {
			Body, ReceiptHandle string
			Attributes          map[string]string
		}
	}
	m.must("ReceiveMessage", object{
		"QueueUrl": modelQueue, "MaxNumberOfMessages": limit, "VisibilityTimeout": visibility,
		"MessageSystemAttributeNames": []string{"All"},
	}, &out)
	var got []string
	for _, message := range out.Messages {
		got = append(got, message.Body+" for the "+message.Attributes["ApproximateReceiveCount"]+".")
	}
	want := m.expected(limit, visibility)
	var names []string
	for _, message := range want {
		names = append(names, fmt.Sprintf("%s for the %d.", message.body, message.receives))
	}
	if !slices.Equal(got, names) {
		t.Fatalf("received %q, want %q", got, names)
	}
	for i, message := range out.Messages {
		want[i].handle = message.ReceiptHandle
		m.handles = append(m.handles, message.ReceiptHandle)
	}
}

// expected takes what a receive should: those visible longest first.
func (m *model) expected(limit, visibility int) []*modelMessage {
	m.expire()
	candidates := slices.Clone(m.messages)
	slices.SortStableFunc(candidates, func(a, b *modelMessage) int { return a.visibleAt.Compare(b.visibleAt) })
	var taken []*modelMessage
	for _, message := range candidates {
		if message.dead || message.visibleAt.After(time.Now()) || len(taken) == limit {
			continue
		}
		if message.receives >= modelReceives {
			message.dead, message.handle, message.visibleAt, message.hidden = true, "", time.Now(), false
			continue
		}
		taken = append(taken, message)
	}
	for _, message := range taken {
		message.receives++
		message.received, message.visibleAt, message.hidden = time.Now(), time.Now().Add(seconds(visibility)), true
	}
	return taken
}

func (m *model) expire() {
	m.messages = slices.DeleteFunc(m.messages, func(message *modelMessage) bool {
		return !message.sent.Add(modelRetention).After(time.Now())
	})
}

func (m *model) anyHandle(t *rapid.T) (string, int) {
	if len(m.handles) == 0 {
		return "", -1
	}
	handle := rapid.SampledFrom(m.handles).Draw(t, "handle")
	m.expire()
	return handle, slices.IndexFunc(m.messages, func(message *modelMessage) bool { return message.handle == handle })
}

func (m *model) delete(t *rapid.T) {
	handle, at := m.anyHandle(t)
	if handle == "" {
		return
	}
	m.must("DeleteMessage", object{"QueueUrl": modelQueue, "ReceiptHandle": handle}, nil)
	if at >= 0 {
		m.messages = slices.Delete(m.messages, at, at+1)
	}
}

func (m *model) change(t *rapid.T) {
	handle, at := m.anyHandle(t)
	if handle == "" {
		return
	}
	timeout := rapid.SampledFrom([]int{0, 10, 100}).Draw(t, "timeout")
	err := m.call("ChangeMessageVisibility", object{"QueueUrl": modelQueue, "ReceiptHandle": handle, "VisibilityTimeout": timeout}, nil)
	switch {
	case at < 0:
		if err == nil || !strings.Contains(err.Error(), "not available for visibility timeout change") {
			t.Fatalf("an overtaken handle: %v", err)
		}
	case !m.messages[at].visibleAt.After(time.Now()):
		if err == nil || !strings.HasPrefix(err.Error(), "MessageNotInflight") {
			t.Fatalf("a visible message: %v", err)
		}
	case err != nil:
		t.Fatal(err)
	default:
		m.messages[at].visibleAt = time.Now().Add(seconds(timeout))
	}
}

// check compares the counts of both queues.
func (m *model) check(t *rapid.T) {
	m.expire()
	for url, dead := range map[string]bool{modelQueue: false, modelDead: true} {
		var out struct{ Attributes map[string]string }
		m.must("GetQueueAttributes", object{"QueueUrl": url, "AttributeNames": []string{"All"}}, &out)
		visible, hidden, delayed := 0, 0, 0
		for _, message := range m.messages {
			switch {
			case message.dead != dead:
			case !message.visibleAt.After(time.Now()):
				visible++
			case message.hidden:
				hidden++
			default:
				delayed++
			}
		}
		got := out.Attributes["ApproximateNumberOfMessages"] + "/" + out.Attributes["ApproximateNumberOfMessagesNotVisible"] +
			"/" + out.Attributes["ApproximateNumberOfMessagesDelayed"]
		if want := fmt.Sprintf("%d/%d/%d", visible, hidden, delayed); got != want {
			t.Fatalf("%s: visible/hidden/delayed are %s, want %s", url, got, want)
		}
	}
}

func TestQueueAgreesWithAListOfItsMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rapid.SyncTest(t, func(t *rapid.T) {
			m := newModel(t)
			t.Repeat(map[string]func(*rapid.T){
				"send": m.send, "receive": m.receive, "delete": m.delete, "change": m.change,
				"sleep": m.sleep, "reopen": m.reopen, "": m.check,
			})
		})
	})
}
