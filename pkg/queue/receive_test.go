package queue_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/queue"
)

func TestDeletesThatComeTogetherShareRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plain, backend := setup(t)
		counted := &counting{HTTPClient: backend.Client()}
		config := backend.Config()
		config.HTTPClient = counted
		c := queue.New(sqs.NewFromConfig(config), queue.Names{}, clock.System{})
		var parcels []job.Parcel
		for i := range 25 {
			parcels = append(parcels, parcel(fmt.Sprintf("job-%d", i), time.Now()))
		}
		send(t, plain, parcels...)
		q := c.Queue("belfry-fast-io")
		var messages []queue.Received
		for range 3 {
			messages = append(messages, receive(t, q, 0)...)
		}
		counted.calls.Store(0)
		begun := time.Now()
		var all sync.WaitGroup
		for _, m := range messages {
			all.Go(func() {
				if err := q.Delete(t.Context(), m.Handle); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := counted.calls.Load(); n != 3 || len(messages) != 25 {
			t.Errorf("%d messages deleted by %d requests, want 25 by 3", len(messages), n)
		}
		if took := time.Since(begun); took > 50*time.Millisecond {
			t.Errorf("the last delete took %v", took)
		}
		time.Sleep(2 * time.Minute)
		if left := receive(t, q, 0); len(left) != 0 {
			t.Errorf("%d messages came back", len(left))
		}
	})
}

func TestHiddenMessagesComeBackNeverEarly(t *testing.T) {
	rows := map[string]struct{ hide, back time.Duration }{
		"zero is at once":                      {0, 0},
		"part of a second is a whole one":      {time.Millisecond, time.Second},
		"a second and a bit is two":            {1001 * time.Millisecond, 2 * time.Second},
		"whole seconds stay":                   {15 * time.Second, 15 * time.Second},
		"less than nothing is at once as well": {-time.Hour, 0},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := setup(t)
				send(t, c, parcel("nightly", time.Now()))
				q := c.Queue("belfry-fast-io")
				m := receive(t, q, 0)[0]
				if err := q.Hide(t.Context(), m.Handle, row.hide); err != nil {
					t.Fatal(err)
				}
				hidden := time.Now()
				again := receive(t, q, 20*time.Second)
				if len(again) != 1 || again[0].Receives != 2 || time.Since(hidden) != row.back {
					t.Fatalf("back %d times after %v, want once after %v", len(again), time.Since(hidden), row.back)
				}
			})
		})
	}
}

func TestSettlingTellsEachCallerItsOwnFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := setup(t)
		send(t, c, parcel("nightly", time.Now()))
		q := c.Queue("belfry-fast-io")
		good := receive(t, q, 0)[0].Handle
		errs := q.HideAll(t.Context(), []string{good, "no handle"}, time.Minute)
		if errs[0] != nil || errs[1] == nil || !strings.Contains(errs[1].Error(), "ReceiptHandleIsInvalid") {
			t.Errorf("hide: %v; want the second refused alone", errs)
		}
		var all sync.WaitGroup
		var goodErr, badErr error
		all.Go(func() { goodErr = q.Delete(t.Context(), good) })
		all.Go(func() { badErr = q.Delete(t.Context(), "no handle") })
		all.Wait()
		if goodErr != nil || badErr == nil {
			t.Errorf("delete: %v and %v; want only the second refused", goodErr, badErr)
		}
	})
}

func TestRenewedMessageStartsItsCountAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := setup(t)
		send(t, c, parcel("nightly", time.Now()))
		q := c.Queue("belfry-fast-io")
		m := receive(t, q, 0)[0]
		time.Sleep(2 * time.Minute)
		second := receive(t, q, 0)[0]
		if second.Receives != 2 {
			t.Fatalf("receives %d, want 2", second.Receives)
		}
		renewed := time.Now()
		if err := q.Renew(t.Context(), second, 30*time.Second); err != nil {
			t.Fatal(err)
		}
		again := receive(t, q, 20*time.Second)
		again = append(again, receive(t, q, 20*time.Second)...)
		if len(again) != 1 || again[0].Receives != 1 || again[0].Body != m.Body || again[0].Group != m.Group || time.Since(renewed) != 30*time.Second {
			t.Fatalf("%+v after %v, want one fresh copy after 30 s", again, time.Since(renewed))
		}
	})
}

func TestEnsure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, backend := setup(t)
		if err := c.Ensure(t.Context(), []string{"fast-io"}); err != nil {
			t.Errorf("making the queues again: %v", err)
		}
		client := sqs.NewFromConfig(backend.Config())
		want := map[string][2]string{ // retention; redrive
			"belfry-fast-io":           {"1209600", `"maxReceiveCount":50`},
			"belfry-fast-io-isolation": {"1209600", `"maxReceiveCount":50`},
			"belfry-fast-io-dlq":       {"1209600", ""},
			"belfry-scan":              {"120", ""},
			"belfry-tick":              {"120", ""},
		}
		for name, w := range want {
			url, err := client.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: &name})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			out, err := client.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: url.QueueUrl, AttributeNames: []types.QueueAttributeName{"All"}})
			if err != nil {
				t.Fatal(err)
			}
			policy := out.Attributes["RedrivePolicy"]
			if out.Attributes["MessageRetentionPeriod"] != w[0] || (w[1] == "") != (policy == "") || !strings.Contains(policy, w[1]) {
				t.Errorf("%s: retention %s, redrive %s; want %s, %s", name, out.Attributes["MessageRetentionPeriod"], policy, w[0], w[1])
			}
		}
	})
}

func TestPoolsThatWouldShareAQueueAreRefused(t *testing.T) {
	rows := map[string]struct {
		pools []string
		fine  bool
	}{
		"different pools":                      {[]string{"fast-io", "cpu-heavy"}, true},
		"names that differ in the dot alone":   {[]string{"a.b", "a_b"}, false},
		"a pool named like a signal queue":     {[]string{"scan"}, false},
		"a pool named like an isolation queue": {[]string{"a", "a-isolation"}, false},
		"a name that SQS does not take":        {[]string{strings.Repeat("a", 70)}, false},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			err := queue.Names{}.Check(row.pools)
			if (err == nil) != row.fine || err != nil && job.CodeOf(err) != job.CodeInvalid {
				t.Fatalf("%v, want fine = %v", err, row.fine)
			}
		})
	}
}

func TestQueueNamesAreRecognised(t *testing.T) {
	pools := []string{"fast-io", "cpu.heavy"}
	rows := map[string]struct {
		queue    string
		pool     string
		isolated bool
		known    bool
	}{
		"a name":                    {"belfry-fast-io", "fast-io", false, true},
		"an ARN":                    {"arn:aws:sqs:eu-west-1:123456789012:belfry-cpu_heavy-isolation", "cpu.heavy", true, true},
		"a URL":                     {"https://sqs.eu-west-1.amazonaws.com/123456789012/belfry-fast-io-dlq", "fast-io", false, true},
		"a pool that is not there":  {"belfry-slow", "", false, false},
		"another installation's":    {"other-fast-io", "", false, false},
		"a queue that is no pool's": {"belfry-scan", "", false, false},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			pool, isolated, known := queue.Names{}.Of(row.queue, pools)
			if pool != row.pool || isolated != row.isolated || known != row.known {
				t.Fatalf("%q, %v, %v", pool, isolated, known)
			}
		})
	}
}
