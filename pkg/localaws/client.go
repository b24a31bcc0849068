package localaws

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Client returns the HTTP client of SDK clients in this process. It calls the
// backend's handler on the caller's goroutine: no socket, no goroutine, no
// buffer between. A context that ends aborts a long poll, and Do returns the
// context's error.
func (b *Backend) Client() aws.HTTPClient { return inMemory{handler: b} }

type inMemory struct{ handler http.Handler }

// Do implements aws.HTTPClient.
func (c inMemory) Do(request *http.Request) (*http.Response, error) {
	if request.Body != nil {
		defer func() { _ = request.Body.Close() }()
	}
	if err := request.Context().Err(); err != nil {
		return nil, err
	}
	recorder := recorder{header: make(http.Header, 8)}
	c.handler.ServeHTTP(&recorder, request)
	if recorder.status == 0 {
		if err := request.Context().Err(); err != nil {
			return nil, err
		}
		return nil, errors.New("the local backend ended the call without an answer")
	}
	return &http.Response{
		Status:        strconv.Itoa(recorder.status) + " " + http.StatusText(recorder.status),
		StatusCode:    recorder.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        recorder.header,
		Body:          io.NopCloser(&recorder.body),
		ContentLength: int64(recorder.body.Len()),
		Request:       request,
	}, nil
}

// recorder is the http.ResponseWriter that keeps the answer.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorder) Write(part []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(part)
}
