package queue_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/queue"
)

func TestMessagesArriveWithinTheSecondBeforeTheyAreDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := setup(t)
		time.Sleep(300 * time.Millisecond) // between two seconds
		due := time.Now().UTC().Truncate(time.Second).Add(5 * time.Second)
		send(t, c, parcel("nightly", due))
		messages := receive(t, c.Queue("belfry-fast-io"), 20*time.Second)
		early := time.Until(due)
		if len(messages) != 1 || early < 0 || early >= time.Second {
			t.Fatalf("%d messages, %v before they are due; want 1 within the second before", len(messages), early)
		}
		if messages[0].Group != "default" || messages[0].Receives != 1 {
			t.Errorf("group %q, receives %d; want default, 1", messages[0].Group, messages[0].Receives)
		}
	})
}

func TestDelayIsBoundedByWhatSQSTakes(t *testing.T) {
	rows := map[string]struct {
		ahead time.Duration
		after time.Duration // at which it is there
	}{
		"overdue is sent at once":                     {-time.Hour, 0},
		"less than a second is no delay":              {999 * time.Millisecond, 0},
		"a second and a half is one second":           {1500 * time.Millisecond, time.Second},
		"an hour ahead arrives after fifteen minutes": {time.Hour, 15 * time.Minute},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := setup(t)
				begun := time.Now()
				p := parcel("nightly", begun.Add(row.ahead))
				p.NotBefore = begun.Add(row.ahead)
				send(t, c, p)
				for range 60 {
					if len(receive(t, c.Queue("belfry-fast-io"), 20*time.Second)) == 1 {
						break
					}
				}
				if took := time.Since(begun); took != row.after {
					t.Fatalf("there after %v, want %v", took, row.after)
				}
			})
		})
	}
}

func TestParcelsGoToTheQueueOfTheirPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := setup(t, "cpu.heavy")
		var parcels []job.Parcel
		for i := range 25 {
			p := parcel(fmt.Sprintf("job-%d", i), time.Now())
			switch i % 3 {
			case 1:
				p.Pool = "cpu.heavy"
			case 2:
				p.Isolated = true
			}
			parcels = append(parcels, p)
		}
		send(t, c, parcels...)
		for name, want := range map[string]int{"belfry-fast-io": 9, "belfry-cpu_heavy": 8, "belfry-fast-io-isolation": 8} {
			got := 0
			for {
				batch := receive(t, c.Queue(name), 0)
				if len(batch) == 0 {
					break
				}
				got += len(batch)
			}
			if got != want {
				t.Errorf("%s holds %d messages, want %d", name, got, want)
			}
		}
	})
}

func TestEachParcelGetsItsOwnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := setup(t)
		parcels := []job.Parcel{parcel("a", time.Now()), parcel("b", time.Now()), parcel("c", time.Now())}
		parcels[1].Pool = "nowhere"
		errs := c.Send(t.Context(), parcels)
		if errs[0] != nil || errs[2] != nil {
			t.Errorf("parcels to fast-io: %v, %v; want accepted", errs[0], errs[2])
		}
		if !errors.Is(errs[1], &job.Error{Code: job.CodeUnavailable}) || !strings.Contains(errs[1].Error(), "belfry-nowhere") {
			t.Errorf("parcel to a pool without queue: %v; want UNAVAILABLE with the queue's name", errs[1])
		}
	})
}

// answering replaces what SendMessageBatch answers.
type answering struct {
	aws.HTTPClient
	answer string
	calls  atomic.Int32
}

func (a *answering) Do(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".SendMessageBatch") {
		return a.HTTPClient.Do(r)
	}
	a.calls.Add(1)
	recorder := http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Request: r,
		Body: readCloser{strings.NewReader(a.answer)}, ContentLength: int64(len(a.answer))}
	return &recorder, nil
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

func TestEntriesThatTheQueueRefusesFailAlone(t *testing.T) {
	const digest = `"MD5OfMessageBody":"x"`
	rows := map[string]struct {
		answer string
		want   []string // part of the error; "" = accepted
	}{
		"one entry refused": {`{"Successful":[{"Id":"0","MessageId":"m",` + digest + `},{"Id":"2","MessageId":"m",` + digest +
			`}],"Failed":[{"Id":"1","Code":"InternalError","Message":"try later","SenderFault":false}]}`, []string{"", "try later", ""}},
		"an entry without any answer is not accepted": {`{"Successful":[{"Id":"0","MessageId":"m",` + digest + `},{"Id":"1","MessageId":"m",` + digest + `}]}`,
			[]string{"", "", "did not accept"}},
		"an answer to nobody changes nothing": {`{"Successful":[{"Id":"7","MessageId":"m",` + digest + `}],"Failed":[{"Id":"-1","Code":"A","SenderFault":true}]}`,
			[]string{"did not accept", "did not accept", "did not accept"}},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, backend := setup(t)
				config := backend.Config()
				config.HTTPClient = &answering{HTTPClient: backend.Client(), answer: row.answer}
				c := queue.New(sqs.NewFromConfig(config, func(o *sqs.Options) { o.DisableMessageChecksumValidation = true }), queue.Names{}, clock.System{})
				errs := c.Send(t.Context(), []job.Parcel{parcel("a", time.Now()), parcel("b", time.Now()), parcel("c", time.Now())})
				for i, want := range row.want {
					if (want == "") != (errs[i] == nil) || want != "" && !strings.Contains(errs[i].Error(), want) {
						t.Errorf("parcel %d: %v, want %q", i, errs[i], want)
					}
				}
			})
		})
	}
}

func TestAThousandParcelsTakeAHundredRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend, err := localaws.New(localaws.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = backend.Close() }()
		counted := &counting{HTTPClient: backend.Client()}
		config := backend.Config()
		config.HTTPClient = counted
		c := queue.New(sqs.NewFromConfig(config), queue.Names{Prefix: "mine"}, clock.System{})
		if err := c.Ensure(t.Context(), []string{"fast-io"}); err != nil {
			t.Fatal(err)
		}
		counted.calls.Store(0)
		var parcels []job.Parcel
		for i := range 1000 {
			parcels = append(parcels, parcel(fmt.Sprintf("job-%d", i), time.Now()))
		}
		send(t, c, parcels...)
		if n := counted.calls.Load(); n != 100 {
			t.Errorf("%d requests, want 100", n)
		}
	})
}

type counting struct {
	aws.HTTPClient
	calls atomic.Int32
}

func (c *counting) Do(r *http.Request) (*http.Response, error) {
	c.calls.Add(1)
	return c.HTTPClient.Do(r)
}

func TestScanAndTickMessagesTravel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := setup(t)
		minute := time.Now().UTC().Truncate(time.Minute)
		sent := []queue.ScanMessage{{Generation: 1, From: 0, To: 127, Minute: minute, SentAt: minute}, {Generation: 1, From: 128, To: 255, Minute: minute, SentAt: minute}}
		for _, err := range c.SendScans(t.Context(), sent) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := c.SendTick(t.Context(), queue.TickMessage{Minute: minute}, 60*time.Second); err != nil {
			t.Fatal(err)
		}
		for i, m := range receive(t, c.Queue("belfry-scan"), 0) {
			got, err := queue.OpenScan(m.Body)
			want := sent[i]
			want.Schema = job.Schema
			if err != nil || got != want {
				t.Errorf("scan message %d: %+v, %v; want %+v", i, got, err, want)
			}
		}
		if early := receive(t, c.Queue("belfry-tick"), 0); len(early) != 0 {
			t.Error("the tick message is there before its minute is over")
		}
		time.Sleep(60 * time.Second)
		ticks := receive(t, c.Queue("belfry-tick"), 0)
		if len(ticks) != 1 {
			t.Fatalf("%d tick messages, want 1", len(ticks))
		}
		if got, err := queue.OpenTick(ticks[0].Body); err != nil || !got.Minute.Equal(minute) {
			t.Errorf("tick of %v, %v; want %v", got.Minute, err, minute)
		}
	})
}
