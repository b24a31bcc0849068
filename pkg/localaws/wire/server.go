package wire

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// MaxBody is the largest request body, in bytes, that a Server reads: what
// DynamoDB takes for its largest batch.
const MaxBody = 16 << 20

// Route says which service answers a target prefix.
type Route struct {
	Target   string  // what stands before the dot in X-Amz-Target, such as "AmazonSQS"
	Service  Service // who answers
	Checksum bool    // whether answers carry X-Amz-Crc32, as DynamoDB's do
}

// Server is the HTTP front of the JSON 1.0 protocol. It is safe for concurrent
// use.
type Server struct {
	routes   map[string]Route
	now      func() time.Time
	requests atomic.Uint64
	closed   atomic.Bool
}

// NewServer returns a Server for the routes. now is the server's clock, which
// the Date header of every answer shows; nil means time.Now.
func NewServer(now func() time.Time, routes ...Route) *Server {
	if now == nil {
		now = time.Now
	}
	s := &Server{routes: make(map[string]Route, len(routes)), now: now}
	for _, route := range routes {
		s.routes[route.Target] = route
	}
	return s
}

// Close has every later call refused. Calls in hand are not disturbed.
func (s *Server) Close() { s.closed.Store(true) }

// ServeHTTP answers one call. When the request's context ends before the
// service has answered, nothing is written: nobody is there to read it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := answer{
		writer:    w,
		requestID: requestID(s.requests.Add(1)),
		date:      s.now().UTC().Format(http.TimeFormat),
	}
	if s.closed.Load() {
		answer.fault(&Fault{
			Status: http.StatusServiceUnavailable, Code: "ServiceUnavailable", Prefix: coral,
			Message: "the local backend has been closed",
		})
		return
	}
	route, operation, err := s.find(r)
	if err != nil {
		answer.fault(err)
		return
	}
	answer.checksum = route.Checksum
	body, err := readBody(r)
	if err != nil {
		answer.fault(err)
		return
	}
	out, err := route.Service.ServeOperation(WithBaseURL(r.Context(), baseURLOf(r)), operation, body)
	if err != nil && r.Context().Err() != nil && errors.Is(err, r.Context().Err()) {
		return
	}
	// A long poll may have taken twenty seconds: the Date is that of the answer.
	answer.date = s.now().UTC().Format(http.TimeFormat)
	if err != nil {
		answer.fault(err)
		return
	}
	answer.write(http.StatusOK, out)
}

// find reads X-Amz-Target. An unknown target is refused by name.
func (s *Server) find(r *http.Request) (Route, string, error) {
	target := r.Header.Get("X-Amz-Target")
	service, operation, ok := strings.Cut(target, ".")
	route, known := s.routes[service]
	if r.Method == http.MethodPost && ok && known && operation != "" {
		return route, operation, nil
	}
	return Route{}, "", &Fault{
		Status: http.StatusBadRequest,
		Code:   "UnknownOperationException",
		Prefix: coral,
		Message: fmt.Sprintf("%s with X-Amz-Target %q is not served here; targets are %s, each followed by a dot and the operation",
			r.Method, target, strings.Join(s.targets(), ", ")),
	}
}

func (s *Server) targets() []string {
	names := make([]string, 0, len(s.routes))
	for name := range s.routes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	if r.ContentLength > MaxBody {
		return nil, tooLarge()
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	if err != nil {
		return nil, &Fault{
			Status: http.StatusBadRequest, Code: "SerializationException", Prefix: coral,
			Message: "the request body could not be read: " + err.Error(),
		}
	}
	if len(body) > MaxBody {
		return nil, tooLarge()
	}
	return body, nil
}

func tooLarge() *Fault {
	return &Fault{
		Status: http.StatusRequestEntityTooLarge, Code: "RequestEntityTooLargeException", Prefix: coral,
		Message: fmt.Sprintf("the request body is larger than %d bytes", MaxBody),
	}
}

// requestID is a UUID in shape; a counter keeps simulated runs the same.
func requestID(n uint64) string {
	return fmt.Sprintf("00000000-0000-4000-8000-%012x", n)
}
