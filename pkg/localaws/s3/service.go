package s3

import (
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
	"github.com/belfry-scheduler/belfry/pkg/localaws/s3/route"
)

// MaxObject is the largest object, in bytes, unless Options say otherwise. S3
// itself takes 5 GB in one request; an object here passes through memory whole.
const MaxObject = 64 << 20

// Options configure a Service. The zero value is a service in us-east-1 for
// account 000000000000.
type Options struct {
	Region    string // empty means us-east-1
	Account   string // empty means 000000000000
	MaxObject int64  // bytes; 0 means the constant MaxObject
}

// Service answers operations of S3 as an http.Handler. It is safe for
// concurrent use.
type Service struct {
	options  Options
	engine   kv.Engine
	requests atomic.Uint64
	closed   atomic.Bool
}

// New opens the service over an engine; the buckets and objects that it finds
// there are there.
func New(engine kv.Engine, options Options) *Service {
	if options.Region == "" {
		options.Region = "us-east-1"
	}
	if options.Account == "" {
		options.Account = "000000000000"
	}
	if options.MaxObject == 0 {
		options.MaxObject = MaxObject
	}
	return &Service{options: options, engine: engine}
}

// Close has every later call refused. It leaves the engine open.
func (s *Service) Close() { s.closed.Store(true) }

// operation answers one call and says which parameters it heeds.
type operation struct {
	serve   func(*Service, *request) (*answer, error)
	headers []string // canonical; those that belong to every call are in everywhere
	query   []string
}

var operations = map[string]operation{
	"CreateBucket": {serve: (*Service).createBucket},
	"HeadBucket":   {serve: (*Service).headBucket},
	"DeleteObject": {serve: (*Service).deleteObject, headers: []string{"If-Match"}},
	"GetObject":    {serve: (*Service).getObject, headers: reading},
	"HeadObject":   {serve: (*Service).getObject, headers: reading},
	"ListObjectsV2": {serve: (*Service).listObjects, query: []string{"list-type", "prefix", "delimiter", "encoding-type", "max-keys",
		"start-after", "continuation-token"}},
	"PutObject": {serve: (*Service).putObject, headers: writing},
}

var (
	reading = []string{"If-Match", "If-None-Match", "Range", "X-Amz-Checksum-Mode"}
	writing = []string{"If-Match", "If-None-Match", "Content-Md5", "X-Amz-Decoded-Content-Length", "X-Amz-Sdk-Checksum-Algorithm",
		"X-Amz-Server-Side-Encryption", "X-Amz-Trailer"}
)

// ServeHTTP answers one call.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	to := recipient{writer: w, request: r, n: s.requests.Add(1)}
	out, err := s.answer(&request{Request: r, Call: route.Of(r)})
	if err != nil {
		to.refuse(err)
		return
	}
	to.send(out)
}

func (s *Service) answer(r *request) (*answer, error) {
	if s.closed.Load() {
		return nil, &fault{status: http.StatusServiceUnavailable, code: "ServiceUnavailable", message: "the local backend has been closed"}
	}
	if r.Operation == "" {
		return nil, &fault{status: http.StatusMethodNotAllowed, code: "MethodNotAllowed",
			message: fmt.Sprintf("The specified method is not allowed against this resource: S3 has no operation for %s %s", r.Method, r.URL.RequestURI())}
	}
	chosen, known := operations[r.Operation]
	if !known {
		return nil, notImplemented("S3's operation " + r.Operation)
	}
	if err := r.check(chosen, s.options.Account); err != nil {
		return nil, err
	}
	return chosen.serve(s, r)
}
