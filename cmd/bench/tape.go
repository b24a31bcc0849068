package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go/middleware"
	"golang.org/x/sync/errgroup"
)

// tape records the SDK's calls with their answers, and plays them again.
type tape struct {
	next aws.HTTPClient

	mu    sync.Mutex
	calls []*call
}

// call is one operation as its caller asked for it, and its last answer.
type call struct {
	input  any
	status int
	header http.Header
	body   []byte
}

func newTape(next aws.HTTPClient) *tape { return &tape{next: next} }

// callKey is where a context carries the call that it belongs to.
type callKey struct{}

// listen notes every operation at the place where the SDK is given its input.
func (t *tape) listen(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("BenchTape", func(ctx context.Context, in middleware.InitializeInput,
		next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		c := &call{input: in.Parameters}
		t.mu.Lock()
		t.calls = append(t.calls, c)
		t.mu.Unlock()
		return next.HandleInitialize(context.WithValue(ctx, callKey{}, c), in)
	}), middleware.Before)
}

// Do passes a request on and keeps its answer with its call.
func (t *tape) Do(request *http.Request) (*http.Response, error) {
	response, err := t.next.Do(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	if c, known := request.Context().Value(callKey{}).(*call); known {
		c.status, c.header, c.body = response.StatusCode, response.Header, body
	}
	return response, nil
}

// rewind forgets what was recorded.
func (t *tape) rewind() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls = nil
}

// length is how many calls were recorded.
func (t *tape) length() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.calls)
}

// stub answers a call at once, with the answer that was recorded.
type stub struct{}

// Do implements aws.HTTPClient.
func (stub) Do(request *http.Request) (*http.Response, error) {
	c, known := request.Context().Value(callKey{}).(*call)
	if !known {
		return nil, errors.New("the stub has no answer to a call that was not recorded")
	}
	return &http.Response{StatusCode: c.status, Header: c.header, Body: io.NopCloser(bytes.NewReader(c.body)), ContentLength: int64(len(c.body)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: request}, nil
}

// atOnce is how many calls a replay has under way.
const atOnce = 32

// replay makes the recorded calls once more and returns how many there were.
func (t *tape) replay(ctx context.Context) (made int, err error) {
	config := aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		BaseEndpoint: aws.String("http://local.invalid"), HTTPClient: stub{}}
	tables, queues := dynamodb.NewFromConfig(config), sqs.NewFromConfig(config)
	var answered []*call
	for _, c := range t.calls {
		if c.status == http.StatusOK { // the last long polls were called off
			answered = append(answered, c)
		}
	}
	var place atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range atOnce {
		group.Go(func() error {
			for at := place.Add(1) - 1; at < int64(len(answered)); at = place.Add(1) - 1 {
				c := answered[at]
				if err := again(context.WithValue(ctx, callKey{}, c), c.input, tables, queues); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return len(answered), group.Wait()
}

// again makes one call of an operation that scan and worker use.
func again(ctx context.Context, input any, tables *dynamodb.Client, queues *sqs.Client) (err error) {
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		_, err = tables.GetItem(ctx, in)
	case *dynamodb.BatchGetItemInput:
		_, err = tables.BatchGetItem(ctx, in)
	case *dynamodb.QueryInput:
		_, err = tables.Query(ctx, in)
	case *dynamodb.UpdateItemInput:
		_, err = tables.UpdateItem(ctx, in)
	case *sqs.SendMessageBatchInput:
		_, err = queues.SendMessageBatch(ctx, in)
	case *sqs.ReceiveMessageInput:
		_, err = queues.ReceiveMessage(ctx, in)
	case *sqs.DeleteMessageBatchInput:
		_, err = queues.DeleteMessageBatch(ctx, in)
	case *sqs.ChangeMessageVisibilityBatchInput:
		_, err = queues.ChangeMessageVisibilityBatch(ctx, in)
	case *sqs.GetQueueUrlInput:
		_, err = queues.GetQueueUrl(ctx, in)
	default:
		err = fmt.Errorf("the replay does not know the operation of a %T", input)
	}
	return err
}
