package fault

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
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
	case "S3":
		return document(request, http.StatusServiceUnavailable, "SlowDown", "Please reduce your request rate.")
	case "DynamoDBStreams":
		return answer(request, http.StatusBadRequest, dynamo+"LimitExceededException", "", "Rate exceeded for operation "+call.Operation)
	}
	return answer(request, http.StatusBadRequest, dynamo+"ProvisionedThroughputExceededException", "",
		"The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API.")
}

func failed(request *http.Request, call Call) *http.Response {
	switch call.Service {
	case "SQS":
		return answer(request, http.StatusInternalServerError, "com.amazon.coral.service#InternalFailure", "InternalFailure;Receiver",
			"The request processing has failed because of an unknown error.")
	case "S3":
		return document(request, http.StatusInternalServerError, "InternalError", "We encountered an internal error. Please try again.")
	}
	return answer(request, http.StatusInternalServerError, dynamo+"InternalServerError", "", "The request could not be processed because of an internal error")
}

func conflicting(request *http.Request, call Call) *http.Response {
	switch call.Service {
	case "DynamoDB":
		return answer(request, http.StatusBadRequest, dynamo+"TransactionConflictException", "", "Transaction is ongoing for the item")
	case "S3":
		return document(request, http.StatusConflict, "ConditionalRequestConflict", "The conditional request cannot succeed due to a conflicting operation against this resource.")
	}
	return failed(request, call)
}

// document is what S3 would have written: no body for HEAD.
func document(request *http.Request, status int, code, text string) *http.Response {
	body := []byte(xml.Header + "<Error><Code>" + code + "</Code><Message>" + text + "</Message><RequestId>FA01700000000000</RequestId></Error>")
	if request.Method == http.MethodHead {
		body = nil
	}
	header := http.Header{}
	header.Set("Content-Type", "application/xml")
	header.Set("X-Amz-Request-Id", "FA01700000000000")
	return respond(request, status, header, body)
}

// answer is what a service of the JSON protocol would have written.
func answer(request *http.Request, status int, shape, query, text string) *http.Response {
	body, _ := json.Marshal(map[string]string{"__type": shape, "message": text})
	header := http.Header{}
	header.Set("Content-Type", "application/x-amz-json-1.0")
	header.Set("X-Amzn-Requestid", "00000000-0000-4000-8000-fa0170000000")
	if query != "" {
		header.Set("X-Amzn-Query-Error", query)
	}
	return respond(request, status, header, body)
}

func respond(request *http.Request, status int, header http.Header, body []byte) *http.Response {
	header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
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
