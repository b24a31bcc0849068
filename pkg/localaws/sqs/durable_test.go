package sqs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
	"github.com/belfry-scheduler/belfry/pkg/localaws/localawstest"
	"github.com/belfry-scheduler/belfry/pkg/localaws/sqs"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(localawstest.VictimDir); dir != "" {
		fmt.Fprintln(os.Stderr, playVictim(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// playVictim sends and deletes for ever, and says on stdout what it was told
// has been done.
func playVictim(dir string) error {
	backend, err := localaws.New(localaws.Options{Dir: dir})
	if err != nil {
		return err
	}
	client, ctx := sdk.NewFromConfig(backend.Config()), context.Background()
	queue, err := client.CreateQueue(ctx, &sdk.CreateQueueInput{QueueName: aws.String("work")})
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		sent, err := client.SendMessage(ctx, &sdk.SendMessageInput{QueueUrl: queue.QueueUrl, MessageBody: aws.String(fmt.Sprint(i))})
		if err != nil {
			return err
		}
		fmt.Println("sent", *sent.MessageId)
		if i%3 != 0 {
			continue
		}
		got, err := client.ReceiveMessage(ctx, &sdk.ReceiveMessageInput{QueueUrl: queue.QueueUrl, VisibilityTimeout: 3600})
		if err != nil {
			return err
		}
		fmt.Println("received", *got.Messages[0].MessageId)
		if i%2 == 0 {
			if _, err := client.DeleteMessage(ctx, &sdk.DeleteMessageInput{QueueUrl: queue.QueueUrl, ReceiptHandle: got.Messages[0].ReceiptHandle}); err != nil {
				return err
			}
			fmt.Println("deleted", *got.Messages[0].MessageId)
		}
	}
}

func TestWhatWasAnsweredSurvivesKill(t *testing.T) {
	dir := t.TempDir()
	state := make(map[string]string) // message id to the last thing said of it
	localawstest.Kill(t, dir, 120, func(line string) {
		verb, id, _ := strings.Cut(line, " ")
		state[id] = verb
	})
	want := make(map[string]int)
	for _, verb := range state {
		want[verb]++
	}
	if want["sent"] == 0 || want["received"] == 0 || want["deleted"] == 0 {
		t.Fatalf("the victim did too little: %v", want)
	}
	b := setup(t, localaws.Options{Dir: dir}, nil)
	visible := make(map[string]bool)
	for messages := b.receiveFor(b.queue, 0); len(messages) > 0; messages = b.receiveFor(b.queue, 0) {
		for _, m := range messages {
			visible[*m.MessageId] = true
		}
	}
	for id, verb := range state {
		if visible[id] != (verb == "sent") && !inDoubt(state, visible, id) {
			t.Errorf("message %s was %s; visible: %v", id, verb, visible[id])
		}
	}
}

// inDoubt tells whether the message may be the one whose receipt was under way
// when the victim died: hidden, although nothing was answered.
func inDoubt(state map[string]string, visible map[string]bool, id string) bool {
	hidden := 0
	for other, verb := range state {
		if verb == "sent" && !visible[other] {
			hidden++
		}
	}
	return state[id] == "sent" && hidden == 1
}

func TestReopenedQueueIsAsItWas(t *testing.T) {
	dir := t.TempDir()
	b := setup(t, localaws.Options{Dir: dir}, map[string]string{"VisibilityTimeout": "1000", "DelaySeconds": "1"})
	if _, err := b.TagQueue(t.Context(), &sdk.TagQueueInput{QueueUrl: &b.queue, Tags: map[string]string{"team": "a"}}); err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{"in flight", "deleted", "given back"} {
		_, err := b.SendMessage(t.Context(), &sdk.SendMessageInput{
			QueueUrl: &b.queue, MessageBody: &body, MessageGroupId: aws.String("tenant"),
			MessageAttributes: map[string]types.MessageAttributeValue{"a": {DataType: aws.String("Binary"), BinaryValue: []byte{0xff}}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	b.set(map[string]string{"DelaySeconds": "0"})
	handles := make(map[string]string)
	for len(handles) < 3 {
		for _, m := range b.receive(b.queue) {
			handles[*m.Body] = *m.ReceiptHandle
		}
	}
	b.remove(handles["deleted"])
	b.change(handles["given back"], 0)
	b.send("delayed", 900)
	if err := b.backend.Close(); err != nil {
		t.Fatal(err)
	}

	b = setup(t, localaws.Options{Dir: dir}, map[string]string{"VisibilityTimeout": "1000", "DelaySeconds": "0"})
	b.wantCounts(b.queue, "1", "1", "1")
	m := b.one(b.queue)
	if *m.Body != "given back" || m.Attributes["ApproximateReceiveCount"] != "2" || m.Attributes["MessageGroupId"] != "tenant" ||
		string(m.MessageAttributes["a"].BinaryValue) != "\xff" {
		t.Errorf("received %q with %v and %v", *m.Body, m.Attributes, m.MessageAttributes)
	}
	b.remove(handles["given back"]) // a handle from before that has been overtaken
	b.wantCounts(b.queue, "0", "2", "1")
	b.remove(handles["in flight"]) // a handle from before that still holds
	b.wantCounts(b.queue, "0", "1", "1")
	tags, err := b.ListQueueTags(t.Context(), &sdk.ListQueueTagsInput{QueueUrl: &b.queue})
	if err != nil || tags.Tags["team"] != "a" {
		t.Errorf("tags are %v, %v", tags, err)
	}
}

func TestHandleOfADeletedQueueMeansNothingToTheNext(t *testing.T) {
	dir := t.TempDir()
	b := setup(t, localaws.Options{Dir: dir}, nil)
	b.send("x", 0)
	old := *b.one(b.queue).ReceiptHandle
	if _, err := b.DeleteQueue(t.Context(), &sdk.DeleteQueueInput{QueueUrl: &b.queue}); err != nil {
		t.Fatal(err)
	}
	if err := b.backend.Close(); err != nil {
		t.Fatal(err)
	}
	b = setup(t, localaws.Options{Dir: dir}, nil)
	b.send("x", 0)
	b.one(b.queue)
	// Refused or without effect, either is right.
	_, _ = b.DeleteMessage(t.Context(), &sdk.DeleteMessageInput{QueueUrl: &b.queue, ReceiptHandle: &old})
	b.wantCounts(b.queue, "0", "1", "0")
}

// fickle is an engine that may run an update twice, as group commits do, and
// may fail.
type fickle struct {
	kv.Engine
	twice, fail bool
	between     func() // called between the two runs, once
}

var errRolledBack = errors.New("rolled back")

func (e *fickle) Update(fn func(kv.Tx) error) error {
	if e.twice || e.fail {
		err := e.Engine.Update(func(tx kv.Tx) error { return errors.Join(fn(tx), errRolledBack) })
		if e.fail {
			return err
		}
		if between := e.between; between != nil {
			e.between = nil
			between()
		}
	}
	return e.Engine.Update(fn)
}

func TestWhatAnEngineRollsBackIsWrittenAgain(t *testing.T) {
	for name, engine := range map[string]*fickle{
		"in the same call":                      {Engine: kv.NewMemory(), twice: true},
		"by the next call when the first fails": {Engine: kv.NewMemory(), fail: true},
	} {
		t.Run(name, func(t *testing.T) {
			call := func(service *sqs.Service, operation, body string) error {
				_, err := service.ServeOperation(t.Context(), operation, []byte(body))
				return err
			}
			service, err := sqs.New(engine, sqs.Options{})
			if err != nil {
				t.Fatal(err)
			}
			const send = `{"QueueUrl":"http://x/000000000000/q","MessageBody":"x"}`
			err = errors.Join(call(service, "CreateQueue", `{"QueueName":"q"}`), call(service, "SendMessage", send))
			if errors.Is(err, errRolledBack) != engine.fail {
				t.Fatalf("calls returned %v", err)
			}
			if engine.fail {
				engine.fail = false
				err = call(service, "SendMessage", send)
			}
			if err != nil {
				t.Fatal(err)
			}
			again, err := sqs.New(engine, sqs.Options{})
			if err != nil {
				t.Fatal(err)
			}
			out, err := again.ServeOperation(t.Context(), "ReceiveMessage", []byte(`{"QueueUrl":"http://x/000000000000/q"}`))
			if err != nil || !strings.Contains(string(out), `"Body":"x"`) {
				t.Errorf("reopened: %s, %v", out, err)
			}
		})
	}
}

// held is an engine whose updates wait, once they have been announced.
type held struct {
	kv.Engine
	arrived, release chan struct{}
}

func (e held) Update(fn func(kv.Tx) error) error {
	e.arrived <- struct{}{}
	<-e.release
	return e.Engine.Update(fn)
}

// TestChangeBetweenTwoRunsDoesNotHideTheMessage has a message received after
// the first run of its send was rolled back and before the second.
func TestChangeBetweenTwoRunsDoesNotHideTheMessage(t *testing.T) {
	engine := &fickle{Engine: kv.NewMemory()}
	service, err := sqs.New(engine, sqs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	call := func(operation, body string) {
		if _, err := service.ServeOperation(t.Context(), operation, []byte(body)); err != nil {
			t.Error(err)
		}
	}
	call("CreateQueue", `{"QueueName":"q"}`)
	memory, gate := engine.Engine, held{engine.Engine, make(chan struct{}), make(chan struct{})}
	var receiver sync.WaitGroup
	engine.twice, engine.between = true, func() {
		engine.twice, engine.Engine = false, gate
		receiver.Go(func() { call("ReceiveMessage", `{"QueueUrl":"http://x/000000000000/q"}`) })
		<-gate.arrived // the receive has changed the message and waits to commit
		engine.Engine = memory
	}
	call("SendMessage", `{"QueueUrl":"http://x/000000000000/q","MessageBody":"x"}`)
	// The send has committed, the receive dies here.
	again, err := sqs.New(memory, sqs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := again.ServeOperation(t.Context(), "GetQueueAttributes", []byte(`{"QueueUrl":"http://x/000000000000/q","AttributeNames":["All"]}`))
	if err != nil || !strings.Contains(string(out), `"ApproximateNumberOfMessagesNotVisible":"1"`) {
		t.Errorf("reopened: %s, %v", out, err)
	}
	close(gate.release)
	receiver.Wait()
}

func TestConcurrentWorkersShareEachMessageOnce(t *testing.T) {
	const messages = 200
	dir := t.TempDir()
	b := setup(t, localaws.Options{Dir: dir}, map[string]string{"VisibilityTimeout": "1000"})
	var senders, workers sync.WaitGroup
	for part := range 4 {
		senders.Go(func() {
			for i := range messages / 4 {
				b.send(fmt.Sprint(part, " ", i), 0)
			}
		})
	}
	var mu sync.Mutex
	seen := make(map[string]int)
	total := 0
	for range 8 {
		workers.Go(func() {
			for {
				got := b.receiveFor(b.queue, 1)
				for _, m := range got {
					b.remove(*m.ReceiptHandle)
				}
				mu.Lock()
				for _, m := range got {
					seen[*m.MessageId]++
					total++
				}
				done := total == messages
				mu.Unlock()
				if done || len(got) == 0 {
					return
				}
			}
		})
	}
	senders.Wait()
	workers.Wait()
	if len(seen) != messages || total != messages {
		t.Errorf("%d messages in %d receipts, want %d in as many", len(seen), total, messages)
	}
	if err := b.backend.Close(); err != nil {
		t.Fatal(err)
	}
	b = setup(t, localaws.Options{Dir: dir}, nil)
	b.wantCounts(b.queue, "0", "0", "0")
}
