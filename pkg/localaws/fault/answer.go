package fault

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// ErrCrashed is what the calls of a crashed Client fail with, wrapped by the
// SDK; test for it with errors.Is.
var ErrCrashed = errors.New("the simulated process has crashed")

const (
	dynamo  = "com.amazonaws.dynamodb.v20120810#"
	message = "com.amazonaws.sqs#"
)

func throttled(request *http.Request, call Call) *http.Response {
	switch call.Service {
	case "SQS":
		return answer(request, http.StatusForbidden, message+"RequestThrottled", "RequestThrottled;Sender", "Rate exceeded")
	case "DynamoDBStreams":
		return answer(request, http.StatusBadRequest, dynamo+"LimitExceededException", "", "Rate exceeded for operation "+call.Operation)
	}
	return answer(request, http.StatusBadRequest, dynamo+"ProvisionedThroughputExceededException", "",
		"The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API.")
}

func failed(request *http.Request, call Call) *http.Response {
	if call.Service == "SQS" {
		return answer(request, http.StatusInternalServerError, "com.amazon.coral.service#InternalFailure", "InternalFailure;Receiver",
			"The request processing has failed because of an unknown error.")
	}
	return answer(request, http.StatusInternalServerError, dynamo+"InternalServerError", "", "The request could not be processed because of an internal error")
}

// answer is what the service itself would have written.
func answer(request *http.Request, status int, shape, query, text string) *http.Response {
	body, _ := json.Marshal(map[string]string{"__type": shape, "message": text})
	header := http.Header{}
	header.Set("Content-Type", "application/x-amz-json-1.0")
	header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	header.Set("X-Amzn-Requestid", "00000000-0000-4000-8000-fa0170000000")
	if query != "" {
		header.Set("X-Amzn-Query-Error", query)
	}
	return &http.Response{
		Status:        fmt.Sprintf("%d %s", status, http.StatusText(status)),
		StatusCode:    status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        header,
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)),
		Request:       request,
	}
}
