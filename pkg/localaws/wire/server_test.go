package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/localaws/wire"
)

// service answers every operation with what it was asked.
type service func(ctx context.Context, operation string, body []byte) ([]byte, error)

func (s service) ServeOperation(ctx context.Context, operation string, body []byte) ([]byte, error) {
	return s(ctx, operation, body)
}

var noon = time.Date(2026, 7, 12, 12, 0, 0, 0, time.UTC)

func call(s service, request *http.Request) *httptest.ResponseRecorder {
	server := wire.NewServer(func() time.Time { return noon },
		wire.Route{Target: "DynamoDB_20120810", Service: s, Checksum: true}, wire.Route{Target: "AmazonSQS", Service: s})
	recorder := httptest.NewRecorder()
	server.ServeHTTP(recorder, request)
	return recorder
}

func post(target, body string) *http.Request {
	request := httptest.NewRequest(http.MethodPost, "http://aws.test:8421/", strings.NewReader(body))
	request.Header.Set("X-Amz-Target", target)
	return request
}

func echo(ctx context.Context, operation string, body []byte) ([]byte, error) {
	return fmt.Appendf(nil, `{"operation":%q,"body":%q,"base":%q}`, operation, body, wire.BaseURL(ctx)), nil
}

func TestCallReachesItsServiceAndIsFramed(t *testing.T) {
	for target, checksum := range map[string]bool{"DynamoDB_20120810.PutItem": true, "AmazonSQS.PutItem": false} {
		got := call(echo, post(target, `{"a":1}`))
		want := `{"operation":"PutItem","body":"{\"a\":1}","base":"http://aws.test:8421"}`
		if got.Code != http.StatusOK || got.Body.String() != want {
			t.Errorf("%s: %d %s, want %s", target, got.Code, got.Body, want)
		}
		for name, value := range map[string]string{
			"Content-Type": "application/x-amz-json-1.0", "Date": "Sun, 12 Jul 2026 12:00:00 GMT", "Content-Length": fmt.Sprint(len(want)),
		} {
			if header := got.Header().Get(name); header != value {
				t.Errorf("%s: %s is %q, want %q", target, name, header, value)
			}
		}
		if got.Header().Get("x-amzn-RequestId") == "" {
			t.Errorf("%s: there is no request id", target)
		}
		sum := ""
		if checksum {
			sum = fmt.Sprint(crc32.ChecksumIEEE([]byte(want)))
		}
		if header := got.Header().Get("X-Amz-Crc32"); header != sum {
			t.Errorf("%s: X-Amz-Crc32 is %q, want %q", target, header, sum)
		}
	}
}

func TestFaultsAreWrittenAsTheServicesDo(t *testing.T) {
	for name, row := range map[string]struct {
		err    error
		status int
		body   string
		query  string
	}{
		"a modelled fault": {
			&wire.Fault{Status: 400, Code: "QueueDoesNotExist", Prefix: "com.amazonaws.sqs", Message: "no", Query: "AWS.SimpleQueueService.NonExistentQueue;Sender"},
			400, `{"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"no"}`, "AWS.SimpleQueueService.NonExistentQueue;Sender",
		},
		"a fault with further members": {
			&wire.Fault{Status: 400, Code: "ConditionalCheckFailedException", Prefix: "com.amazonaws.dynamodb.v20120810", Message: "no", Extra: map[string]any{"Item": 1}},
			400, `{"Item":1,"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"no"}`, "",
		},
		"a fault whose model writes Message": {
			&wire.Fault{Status: 400, Code: "TransactionCanceledException", Message: "no"},
			400, `{"Message":"no","__type":"TransactionCanceledException"}`, "",
		},
		"a wrapped fault": {
			fmt.Errorf("while: %w", &wire.Fault{Status: 400, Code: "A", Message: "no"}), 400, `{"__type":"A","message":"no"}`, "",
		},
		"any other error": {
			errors.New("broken"), 500, `{"__type":"com.amazon.coral.service#InternalServerError","message":"broken"}`, "",
		},
		"a fault that has no JSON form": {
			&wire.Fault{Status: 400, Code: "A", Extra: map[string]any{"f": func() {}}}, 500,
			`{"__type":"com.amazon.coral.service#InternalServerError","message":"the fault A could not be written: json: unsupported type: func()"}`, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := call(func(context.Context, string, []byte) ([]byte, error) { return nil, row.err }, post("AmazonSQS.X", "{}"))
			if got.Code != row.status || got.Body.String() != row.body || got.Header().Get("x-amzn-query-error") != row.query {
				t.Errorf("%d %s %q, want %d %s %q", got.Code, got.Body, got.Header().Get("x-amzn-query-error"), row.status, row.body, row.query)
			}
		})
	}
}

func TestRequestsThatNameNoServiceAreRefusedByName(t *testing.T) {
	for _, request := range []*http.Request{
		post("", "{}"), post("AmazonSQS", "{}"), post("AmazonSQS.", "{}"), post("AmazonS3.PutObject", "{}"),
		httptest.NewRequest(http.MethodGet, "/", nil),
	} {
		got := call(nil, request)
		var body struct {
			Type    string `json:"__type"`
			Message string `json:"message"`
		}
		if err := json.Unmarshal(got.Body.Bytes(), &body); err != nil {
			t.Fatal(err)
		}
		if got.Code != 400 || !strings.HasSuffix(body.Type, "#UnknownOperationException") ||
			!strings.Contains(body.Message, fmt.Sprintf("%q", request.Header.Get("X-Amz-Target"))) || !strings.Contains(body.Message, "AmazonSQS, DynamoDB_20120810") {
			t.Errorf("target %q: %d %+v", request.Header.Get("X-Amz-Target"), got.Code, body)
		}
	}
}

func TestBodiesAreBounded(t *testing.T) {
	never := func(context.Context, string, []byte) ([]byte, error) { panic("reached the service") }
	told := post("AmazonSQS.X", strings.Repeat(" ", wire.MaxBody+1))
	untold := post("AmazonSQS.X", strings.Repeat(" ", wire.MaxBody+1))
	untold.ContentLength = -1
	for _, request := range []*http.Request{told, untold} {
		if got := call(never, request); got.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("length %d: %d %s", request.ContentLength, got.Code, got.Body)
		}
	}
	if got := call(echo, post("AmazonSQS.X", strings.Repeat(" ", wire.MaxBody))); got.Code != http.StatusOK {
		t.Errorf("the largest body is answered %d", got.Code)
	}
}

func TestNothingIsWrittenForACallerWhoHasGone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wait := func(ctx context.Context, _ string, _ []byte) ([]byte, error) { return nil, ctx.Err() }
	if got := call(wait, post("AmazonSQS.X", "{}").WithContext(ctx)); got.Body.Len() != 0 || len(got.Header()) != 0 {
		t.Errorf("wrote %v %s", got.Header(), got.Body)
	}
}

func TestClosedServerRefuses(t *testing.T) {
	server := wire.NewServer(nil, wire.Route{Target: "AmazonSQS", Service: service(echo)})
	server.Close()
	recorder := httptest.NewRecorder()
	server.ServeHTTP(recorder, post("AmazonSQS.X", "{}"))
	if recorder.Code != http.StatusServiceUnavailable {
		t.Errorf("answered %d", recorder.Code)
	}
}
