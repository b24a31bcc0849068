package sqs_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/localaws/sqs"
)

func TestMessagesInFlightAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, localaws.Options{MaxInFlight: 3}, map[string]string{"VisibilityTimeout": "15"})
		for range 5 {
			b.send("x", 0)
		}
		if n := len(b.receive(b.queue)); n != 3 {
			t.Fatalf("received %d, want the 3 that may be in flight", n)
		}
		_, err := b.ReceiveMessage(t.Context(), &sdk.ReceiveMessageInput{QueueUrl: &b.queue})
		wantCode(t, err, "OverLimit")
		begin := time.Now()
		if n := len(b.receive(b.queue)); n != 3 || time.Since(begin) != 15*time.Second {
			t.Fatalf("a long poll received %d after %v, want 3 when the visibility ends", n, time.Since(begin))
		}
	})
}

func TestMessagesExpireByTheTimeTheyWereSent(t *testing.T) {
	for name, row := range map[string]struct {
		before func(*bench, string) // what happens to the message
		queue  func(*bench, string) string
	}{
		"visible":   {func(*bench, string) {}, func(b *bench, _ string) string { return b.queue }},
		"in flight": {func(b *bench, _ string) { b.one(b.queue) }, func(b *bench, _ string) string { return b.queue }},
		"dead": {func(b *bench, _ string) {
			b.one(b.queue)
			time.Sleep(50 * time.Second) // most of its life was spent in the source queue
			b.receiveFor(b.queue, 0)
		}, func(_ *bench, dead string) string { return dead }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, localaws.Options{}, map[string]string{"MessageRetentionPeriod": "60"})
				dead := b.create("dead", map[string]string{"MessageRetentionPeriod": "60"})
				b.set(map[string]string{"RedrivePolicy": redriveTo("dead", 1)})
				sent := time.Now()
				b.send("x", 0)
				row.before(b, dead)
				time.Sleep(time.Until(sent.Add(59 * time.Second)))
				v, h, _ := b.counts(row.queue(b, dead))
				if v+h != "10" && v+h != "01" {
					t.Fatalf("after 59 s: visible %s, hidden %s, want one message", v, h)
				}
				time.Sleep(time.Second)
				b.wantCounts(row.queue(b, dead), "0", "0", "0")
			})
		})
	}
}

func redriveTo(name string, receives int) string {
	return fmt.Sprintf(`{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:%s","maxReceiveCount":"%d"}`, name, receives)
}

func TestRedriveWakesPollsOfTheDeadLetterQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, localaws.Options{}, nil)
		dead := b.create("dead", nil)
		b.set(map[string]string{"RedrivePolicy": redriveTo("dead", 1), "VisibilityTimeout": "5"})
		b.send("x", 0)
		b.one(b.queue)
		got := make(chan time.Duration, 1)
		begin := time.Now()
		go func() { b.one(dead); got <- time.Since(begin) }()
		if n := len(b.receiveFor(b.queue, 10)); n != 0 {
			t.Fatalf("the source gave %d messages", n)
		}
		if took := <-got; took != 5*time.Second {
			t.Errorf("the dead letter came after %v, want 5s", took)
		}
	})
}

func TestMessageStaysWhenItsDeadLetterQueueIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, localaws.Options{}, map[string]string{"VisibilityTimeout": "5"})
		dead := b.create("dead", nil)
		b.set(map[string]string{"RedrivePolicy": redriveTo("dead", 1)})
		if _, err := b.DeleteQueue(t.Context(), &sdk.DeleteQueueInput{QueueUrl: &dead}); err != nil {
			t.Fatal(err)
		}
		b.send("x", 0)
		b.one(b.queue)
		if got := b.one(b.queue).Attributes["ApproximateReceiveCount"]; got != "2" {
			t.Errorf("receive count is %s, want 2", got)
		}
	})
}

func TestRedrivePolicyCanBeTakenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, localaws.Options{}, map[string]string{"VisibilityTimeout": "0"})
		b.create("dead", nil)
		b.set(map[string]string{"RedrivePolicy": redriveTo("dead", 1)})
		b.set(map[string]string{"RedrivePolicy": ""})
		b.send("x", 0)
		b.one(b.queue)
		b.one(b.queue)
	})
}

func TestDeadLetterQueueMayDeclineASource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, localaws.Options{}, nil)
		for name, row := range map[string]struct {
			allow string
			ok    bool
		}{
			"all":    {`{"redrivePermission":"allowAll"}`, true},
			"none":   {`{"redrivePermission":"denyAll"}`, false},
			"other":  {`{"redrivePermission":"byQueue","sourceQueueArns":["arn:aws:sqs:us-east-1:000000000000:other"]}`, false},
			"source": {`{"redrivePermission":"byQueue","sourceQueueArns":["arn:aws:sqs:us-east-1:000000000000:work"]}`, true},
		} {
			b.create(name, map[string]string{"RedriveAllowPolicy": row.allow})
			_, err := b.SetQueueAttributes(t.Context(), &sdk.SetQueueAttributesInput{
				QueueUrl: &b.queue, Attributes: map[string]string{"RedrivePolicy": redriveTo(name, 1)},
			})
			if (err == nil) != row.ok {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestWhatSQSAllowsOnlyOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, localaws.Options{}, nil)
		purge := func() error {
			_, err := b.PurgeQueue(t.Context(), &sdk.PurgeQueueInput{QueueUrl: &b.queue})
			return err
		}
		create := func() error {
			_, err := b.CreateQueue(t.Context(), &sdk.CreateQueueInput{QueueName: aws.String("work")})
			return err
		}
		if err := purge(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(59 * time.Second)
		wantCode(t, purge(), "AWS.SimpleQueueService.PurgeQueueInProgress")
		time.Sleep(time.Second)
		if err := purge(); err != nil {
			t.Fatal(err)
		}
		if _, err := b.DeleteQueue(t.Context(), &sdk.DeleteQueueInput{QueueUrl: &b.queue}); err != nil {
			t.Fatal(err)
		}
		wantCode(t, create(), "AWS.SimpleQueueService.QueueDeletedRecently")
		time.Sleep(time.Minute)
		if err := create(); err != nil {
			t.Fatal(err)
		}
		b.wantCounts(b.queue, "0", "0", "0")
	})
}

func TestWhatIsNotImplementedIsRefusedByName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, localaws.Options{}, nil)
		_, permission := b.AddPermission(t.Context(), &sdk.AddPermissionInput{
			QueueUrl: &b.queue, Label: aws.String("x"), AWSAccountIds: []string{"1"}, Actions: []string{"*"},
		})
		_, move := b.StartMessageMoveTask(t.Context(), &sdk.StartMessageMoveTaskInput{SourceArn: aws.String("x")})
		_, fifo := b.CreateQueue(t.Context(), &sdk.CreateQueueInput{QueueName: aws.String("work.fifo")})
		_, attribute := b.SetQueueAttributes(t.Context(), &sdk.SetQueueAttributesInput{
			QueueUrl: &b.queue, Attributes: map[string]string{"FifoQueue": "true"},
		})
		for name, err := range map[string]error{"AddPermission": permission, "StartMessageMoveTask": move, "work.fifo": fifo, "FifoQueue": attribute} {
			wantCode(t, err, "AWS.SimpleQueueService.UnsupportedOperation")
			if !strings.Contains(err.Error(), name) {
				t.Errorf("%v does not name %s", err, name)
			}
		}
	})
}

func TestDisturbances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, localaws.Options{Disturb: func(s sqs.Sending) sqs.Disturbance {
			return map[string]sqs.Disturbance{"twice": {Copies: 1}, "late": {Late: 3 * time.Second}}[s.Body]
		}}, nil)
		begin := time.Now()
		b.send("late", 1)
		b.send("twice", 0)
		copies := b.receive(b.queue)
		if len(copies) != 2 || *copies[0].MessageId != *copies[1].MessageId {
			t.Fatalf("received %d copies, want 2 of one id", len(copies))
		}
		b.remove(*copies[0].ReceiptHandle)
		b.wantCounts(b.queue, "0", "1", "1")
		b.one(b.queue)
		if took := time.Since(begin); took != 4*time.Second {
			t.Errorf("the late message came after %v, want its delay and 3s", took)
		}
	})
}

func TestFailingMessageDoesNotStarveOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, localaws.Options{}, nil)
		for i := range 3 {
			b.send(fmt.Sprint(i), 0)
			time.Sleep(time.Second)
		}
		var order string
		for range 4 {
			out, err := b.ReceiveMessage(t.Context(), &sdk.ReceiveMessageInput{QueueUrl: &b.queue})
			if err != nil {
				t.Fatal(err)
			}
			order += *out.Messages[0].Body
			b.change(*out.Messages[0].ReceiptHandle, 0)
			time.Sleep(time.Second)
		}
		if order != "0120" {
			t.Errorf("received in the order %s, want 0120: what comes back goes behind", order)
		}
	})
}
