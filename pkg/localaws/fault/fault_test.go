package fault_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
)

// process is a simulated process with its own client, over a shared backend.
type process struct {
	*fault.Client
	sqs   *sqs.Client
	queue string
}

// open starts a backend with one queue; the returned function starts processes.
func open(t *testing.T, retries int) func(decide func(fault.Call) fault.Action) process {
	t.Helper()
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	out, err := sqs.NewFromConfig(backend.Config()).CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("q")})
	if err != nil {
		t.Fatal(err)
	}
	return func(decide func(fault.Call) fault.Action) process {
		client := fault.Wrap(backend.Client(), decide)
		config := backend.Config()
		config.HTTPClient = client
		return process{client, sqs.NewFromConfig(config, func(o *sqs.Options) { o.RetryMaxAttempts = retries }), *out.QueueUrl}
	}
}

func (p process) send(ctx context.Context, body string) error {
	_, err := p.sqs.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &p.queue, MessageBody: &body})
	return err
}

func (p process) stored(t *testing.T) string {
	t.Helper()
	out, err := p.sqs.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: &p.queue, AttributeNames: []types.QueueAttributeName{"ApproximateNumberOfMessages"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Attributes["ApproximateNumberOfMessages"]
}

func isThrottled(err error) bool {
	var throttled *types.RequestThrottled
	return errors.As(err, &throttled)
}

func TestActionAtTheFirstSend(t *testing.T) {
	for name, row := range map[string]struct {
		action  fault.Action
		retries int
		failed  func(error) bool
		stored  string
	}{
		"passed":                               {fault.Pass, 1, nil, "1"},
		"throttled":                            {fault.Throttle, 1, isThrottled, "0"},
		"throttled, then tried again":          {fault.Throttle, 3, nil, "1"},
		"failed before":                        {fault.FailBefore, 1, func(err error) bool { return err != nil }, "0"},
		"failed before, then tried again":      {fault.FailBefore, 3, nil, "1"},
		"response lost":                        {fault.LoseResponse, 1, func(err error) bool { return err != nil }, "1"},
		"response lost, then tried again":      {fault.LoseResponse, 3, nil, "2"},
		"crashed before, which nobody retries": {fault.CrashBefore, 3, func(err error) bool { return errors.Is(err, fault.ErrCrashed) }, "0"},
		"crashed after, which nobody retries":  {fault.CrashAfter, 3, func(err error) bool { return errors.Is(err, fault.ErrCrashed) }, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := open(t, row.retries)
				begin := time.Now()
				err := start(fault.At(1, row.action)).send(t.Context(), "x")
				if errors.Is(err, fault.ErrCrashed) && time.Since(begin) != 0 {
					t.Errorf("the dead process went on trying for %v", time.Since(begin))
				}
				if row.failed == nil && err != nil || row.failed != nil && !row.failed(err) {
					t.Errorf("send returned %v", err)
				}
				if got := start(nil).stored(t); got != row.stored {
					t.Errorf("%s messages are stored, want %s", got, row.stored)
				}
			})
		})
	}
}

func TestCrashedProcessMakesNoMoreCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := open(t, 1)
		p := start(fault.At(2, fault.CrashAfter))
		select {
		case <-p.Crashed():
			t.Fatal("crashed before any call")
		default:
		}
		_, _, last := p.send(t.Context(), "1"), p.send(t.Context(), "2"), p.send(t.Context(), "3")
		<-p.Crashed()
		if !errors.Is(last, fault.ErrCrashed) {
			t.Errorf("a call after the crash returned %v", last)
		}
		if got := start(nil).stored(t); got != "2" || p.Calls() != 2 {
			t.Errorf("%s messages are stored after %d calls, want 2 after 2", got, p.Calls())
		}
	})
}

func TestCrashSwallowsAnswersStillUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := open(t, 1)
		p := start(fault.At(2, fault.CrashBefore))
		var poll error
		var done sync.WaitGroup
		done.Go(func() {
			_, poll = p.sqs.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &p.queue, WaitTimeSeconds: 5})
		})
		synctest.Wait()
		_ = p.send(t.Context(), "x")
		done.Wait()
		if !errors.Is(poll, fault.ErrCrashed) {
			t.Errorf("a poll that was under way at the crash returned %v", poll)
		}
	})
}

func TestDelayHoldsTheCallBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, 1)(fault.At(1, fault.Delay(3*time.Second)))
		begin := time.Now()
		if err := p.send(t.Context(), "x"); err != nil || time.Since(begin) != 3*time.Second {
			t.Errorf("send returned %v after %v, want success after 3s", err, time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		p = open(t, 1)(fault.At(1, fault.LoseResponse.After(time.Hour)))
		begin = time.Now()
		if err := p.send(ctx, "x"); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("send returned %v after %v, want the context's error after 1s", err, time.Since(begin))
		}
	})
}

func TestCallIsDescribed(t *testing.T) {
	var calls []fault.Call
	synctest.Test(t, func(t *testing.T) {
		p := open(t, 2)(func(call fault.Call) fault.Action {
			calls = append(calls, call)
			return fault.Throttle
		})
		_ = p.send(t.Context(), "x")
	})
	if len(calls) != 2 {
		t.Fatalf("%d calls, want 2 attempts", len(calls))
	}
	for i, call := range calls {
		if call.Service != "SQS" || call.Operation != "SendMessage" || call.N != i+1 || call.Attempt != i+1 || len(call.Body) == 0 {
			t.Errorf("call %d is %+v", i+1, call)
		}
	}
}

func TestDynamoDBIsThrottledInItsOwnWords(t *testing.T) {
	config := aws.Config{Region: "us-east-1", Credentials: aws.AnonymousCredentials{}, HTTPClient: fault.Wrap(nil, fault.At(1, fault.Throttle))}
	client := dynamodb.NewFromConfig(config, func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
	_, err := client.ListTables(t.Context(), nil)
	var exceeded *ddbtypes.ProvisionedThroughputExceededException
	if !errors.As(err, &exceeded) {
		t.Errorf("error is %v, want ProvisionedThroughputExceededException", err)
	}
}

func TestSweepPutsEveryFaultAtEveryCall(t *testing.T) {
	var names []string
	runs := fault.Sweep([]fault.Action{fault.LoseResponse, fault.CrashBefore}, func(call fault.Call) bool { return call.Operation == "SendMessage" },
		func(trial fault.Trial) {
			names = append(names, trial.Name)
			synctest.Test(t, func(t *testing.T) {
				start := open(t, 1)
				p := start(trial.Decide)
				p.stored(t) // does not match, so it does not count
				first, second := p.send(t.Context(), "1"), p.send(t.Context(), "2")
				failed := map[int]bool{1: first != nil, 2: second != nil}
				if n := trial.Call.N - 1; n > 0 && (!failed[n] || !trial.Fired()) {
					t.Errorf("%s: failed calls are %v, fired is %v", trial.Name, failed, trial.Fired())
				}
			})
		})
	want := []string{"no fault", "lose response at call 1 (SendMessage)", "crash before at call 1 (SendMessage)",
		"lose response at call 2 (SendMessage)", "crash before at call 2 (SendMessage)"}
	if runs != 4 || len(names) != len(want) {
		t.Fatalf("%d runs: %v", runs, names)
	}
	for i := range want {
		if names[i] != want[i] {
			t.Errorf("run %d is %q, want %q", i, names[i], want[i])
		}
	}
}
