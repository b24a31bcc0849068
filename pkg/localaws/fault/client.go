package fault

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/belfry-scheduler/belfry/pkg/localaws/s3/route"
)

// Call is one attempt of one SDK call, as it is about to leave the process.
type Call struct {
	Service   string // "DynamoDB", "DynamoDBStreams", "SQS" or "S3"
	Operation string // such as "PutItem"
	Object    string // bucket and key of a call of S3, such as "belfry/checkpoints/7"; empty elsewhere
	N         int    // ordinal over all calls of the Client, from 1; every attempt counts
	Attempt   int    // which of the SDK's attempts at the operation, from 1; 0 when the request does not say
	Body      []byte // the request's JSON, or what S3 is sent; must not be changed
}

// String names the call as test names show it.
func (c Call) String() string { return fmt.Sprintf("call %d, %s", c.N, c.Operation) }

// Client is the transport of one simulated process. It is safe for concurrent
// use.
type Client struct {
	next   aws.HTTPClient
	decide func(Call) Action

	mu      sync.Mutex
	n       int
	dead    bool
	crashed chan struct{}
}

// Wrap returns a Client that sends its calls on to next as decide says. decide
// sees one call at a time, in the order of their numbers, and must not make
// calls of its own; nil lets everything pass.
func Wrap(next aws.HTTPClient, decide func(Call) Action) *Client {
	if decide == nil {
		decide = func(Call) Action { return Pass }
	}
	return &Client{next: next, decide: decide, crashed: make(chan struct{})}
}

// Crashed is closed when the process has crashed. Whoever plays the process
// should stop then, without cleaning up.
func (c *Client) Crashed() <-chan struct{} { return c.crashed }

// Calls returns how many calls were made, those after a crash left out.
func (c *Client) Calls() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// Do implements aws.HTTPClient.
func (c *Client) Do(request *http.Request) (*http.Response, error) {
	call, err := describe(request)
	if err != nil {
		return nil, err
	}
	action, err := c.admit(&call)
	if err != nil {
		return nil, err
	}
	if err := sleep(request, action.delay); err != nil {
		return nil, err
	}
	if c.isDead() { // another call of the same process crashed it meanwhile
		return nil, crash{call}
	}
	return c.perform(request, call, action)
}

func (c *Client) perform(request *http.Request, call Call, action Action) (*http.Response, error) {
	switch action.kind {
	case throttle:
		return throttled(request, call), nil
	case failBefore:
		return failed(request, call), nil
	case conflict:
		return conflicting(request, call), nil
	case crashBefore:
		c.die()
		return nil, crash{call}
	case pass, loseResponse, crashAfter: // carried out
	}
	response, err := c.next.Do(request)
	if action.kind == pass && !c.isDead() {
		return response, err
	}
	if err == nil {
		_ = response.Body.Close()
	}
	if action.kind == loseResponse && !c.isDead() {
		return nil, fmt.Errorf("read the answer to %s: %w", call.Operation, syscall.ECONNRESET)
	}
	c.die()
	return nil, crash{call}
}

// admit numbers the call and decides about it.
func (c *Client) admit(call *Call) (Action, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		return Action{}, crash{*call}
	}
	c.n++
	call.N = c.n
	return c.decide(*call), nil
}

func (c *Client) isDead() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dead
}

func (c *Client) die() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.dead {
		c.dead = true
		close(c.crashed)
	}
}

// describe reads the request and leaves its body to be read again.
func describe(request *http.Request) (Call, error) {
	call := named(request)
	call.Attempt = attemptOf(request)
	if request.Body == nil {
		return call, nil
	}
	body, err := io.ReadAll(request.Body)
	_ = request.Body.Close()
	if err != nil {
		return Call{}, fmt.Errorf("read the request of %s: %w", call.Operation, err)
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	call.Body = body
	return call, nil
}

// named reads service and operation. A request that does not name them is one of
// S3, whose operations are told by method, path and query.
func named(request *http.Request) Call {
	target, operation, found := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	if !found {
		of := route.Of(request)
		return Call{Service: "S3", Operation: of.Operation, Object: strings.TrimSuffix(of.Bucket+"/"+of.Key, "/")}
	}
	if service, known := services[target]; known {
		target = service
	}
	return Call{Service: target, Operation: operation}
}

var services = map[string]string{
	"DynamoDB_20120810":        "DynamoDB",
	"DynamoDBStreams_20120810": "DynamoDBStreams",
	"AmazonSQS":                "SQS",
}

// attemptOf reads "attempt=2; max=3", which the SDK's retryer sends.
func attemptOf(request *http.Request) int {
	for part := range strings.SplitSeq(request.Header.Get("Amz-Sdk-Request"), ";") {
		if number, ok := strings.CutPrefix(strings.TrimSpace(part), "attempt="); ok {
			attempt, _ := strconv.Atoi(number)
			return attempt
		}
	}
	return 0
}

func sleep(request *http.Request, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-request.Context().Done():
		return request.Context().Err()
	}
}

// crash is the error of a dead process's calls.
type crash struct{ call Call }

// Error names the call that was not answered.
func (c crash) Error() string {
	return "the simulated process has crashed; " + c.call.Operation + " was not answered"
}

// CanceledError keeps the SDK from trying again: the dead do not retry.
func (crash) CanceledError() bool { return true }

// Is lets errors.Is recognise ErrCrashed.
func (crash) Is(target error) bool { return target == ErrCrashed }
