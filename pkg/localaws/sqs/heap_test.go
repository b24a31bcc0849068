package sqs

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// TestReceiveDoesNotGrowWithWhatIsStored counts comparisons instead of time.
func TestReceiveDoesNotGrowWithWhatIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, err := New(nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		call := func(operation, body string) {
			t.Helper()
			if _, err := service.ServeOperation(t.Context(), operation, []byte(body)); err != nil {
				t.Fatal(err)
			}
		}
		call("CreateQueue", `{"QueueName":"q"}`)
		q := service.queues["q"]
		comparisons := 0
		for _, o := range []*ordering{q.ready, q.timed, q.age} {
			less := o.less
			o.less = func(a, b *message) bool { comparisons++; return less(a, b) }
		}
		const stored = 50_000
		now := clock()
		for i := range stored {
			m := &message{seq: service.nextSeq(q), content: content{ID: fmt.Sprint(i), Body: "x"}}
			m.sent, m.visibleAt = now, now+int64(time.Hour)+int64(i*7919%stored)
			q.insert(m, phase(1+i%2), now)
		}
		for range 100 {
			comparisons = 0
			call("SendMessage", `{"QueueUrl":"http://x/000000000000/q","MessageBody":"x"}`)
			call("ReceiveMessage", `{"QueueUrl":"http://x/000000000000/q"}`)
			if comparisons > 300 {
				t.Fatalf("a send and a receive among %d messages made %d comparisons", stored, comparisons)
			}
		}
		if got := [3]int{q.counts[ready], q.counts[delayed], q.counts[inFlight]}; got != [3]int{0, stored / 2, stored/2 + 100} {
			t.Errorf("counts are %v", got)
		}
	})
}
