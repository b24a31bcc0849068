package sqs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
	"github.com/belfry-scheduler/belfry/pkg/localaws/wire"
)

// Options configure a Service. The zero value is a service in us-east-1 for
// account 000000000000 that behaves as well as SQS does on a good day.
type Options struct {
	Region      string // empty means us-east-1
	Account     string // empty means 000000000000
	MaxInFlight int    // messages in flight in one queue; 0 means SQS's 120 000

	// Disturb, when set, is asked about every message that is sent, and may
	// have it delivered late or more than once. It must answer the same for
	// the same arguments if runs are to be repeatable, and must not call the
	// service.
	Disturb func(Sending) Disturbance
}

// Sending describes a message to Options.Disturb.
type Sending struct {
	Queue string // name of the queue
	N     int    // ordinal of the message in its queue since the service was opened, from 1
	Body  string
}

// Disturbance is what a queue may do to a message without breaking SQS's
// promises. The zero value leaves the message alone.
type Disturbance struct {
	Late   time.Duration // becomes visible this much later than its delay says
	Copies int           // further deliveries of the same message id, each with a life of its own
}

// Service answers AmazonSQS operations. It is safe for concurrent use.
type Service struct {
	options Options
	engine  kv.Engine // nil when nothing is to be stored

	mu      sync.Mutex
	queues  map[string]*queue // by name
	deleted map[string]time.Time
	lastID  uint64
	closed  bool
	pending pending
}

// New opens the service over an engine and rebuilds its queues from what is
// stored there. A nil engine stores nothing: the queues live as long as the
// Service does.
func New(engine kv.Engine, options Options) (*Service, error) {
	if options.Region == "" {
		options.Region = "us-east-1"
	}
	if options.Account == "" {
		options.Account = "000000000000"
	}
	if options.MaxInFlight == 0 {
		options.MaxInFlight = 120_000
	}
	s := &Service{
		options: options,
		engine:  engine,
		queues:  make(map[string]*queue),
		deleted: make(map[string]time.Time),
		pending: newPending(),
	}
	if engine == nil {
		s.pending.off = true
		return s, nil
	}
	if err := s.load(); err != nil {
		return nil, fmt.Errorf("rebuild the queues: %w", err)
	}
	return s, nil
}

// Close ends every long poll and refuses further calls. It leaves the engine
// open.
func (s *Service) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, q := range s.queues {
		q.dismissWaiters()
	}
}

// operation answers one call from its JSON body.
type operation func(ctx context.Context, s *Service, body []byte) ([]byte, error)

var operations = map[string]operation{
	"ChangeMessageVisibility":      handle((*Service).changeVisibility),
	"ChangeMessageVisibilityBatch": handle((*Service).changeVisibilityBatch),
	"CreateQueue":                  handle((*Service).createQueue),
	"DeleteMessage":                handle((*Service).deleteMessage),
	"DeleteMessageBatch":           handle((*Service).deleteMessageBatch),
	"DeleteQueue":                  handle((*Service).deleteQueue),
	"GetQueueAttributes":           handle((*Service).getQueueAttributes),
	"GetQueueUrl":                  handle((*Service).getQueueURL),
	"ListDeadLetterSourceQueues":   handle((*Service).listDeadLetterSourceQueues),
	"ListQueueTags":                handle((*Service).listQueueTags),
	"ListQueues":                   handle((*Service).listQueues),
	"PurgeQueue":                   handle((*Service).purgeQueue),
	"ReceiveMessage":               handle((*Service).receiveMessage),
	"SendMessage":                  handle((*Service).sendMessage),
	"SendMessageBatch":             handle((*Service).sendMessageBatch),
	"SetQueueAttributes":           handle((*Service).setQueueAttributes),
	"TagQueue":                     handle((*Service).tagQueue),
	"UntagQueue":                   handle((*Service).untagQueue),
}

// ServeOperation implements wire.Service.
func (s *Service) ServeOperation(ctx context.Context, name string, body []byte) ([]byte, error) {
	serve, ok := operations[name]
	if !ok {
		return nil, unsupported("the local backend does not implement AmazonSQS." + name)
	}
	return serve(ctx, s, body)
}

func handle[In, Out any](do func(*Service, context.Context, *In) (*Out, error)) operation {
	return func(ctx context.Context, s *Service, body []byte) ([]byte, error) {
		in := new(In)
		if err := decode(body, in); err != nil {
			return nil, err
		}
		out, err := do(s, ctx, in)
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	}
}

// decode refuses members that no operation here reads, by their name: silence
// would let a caller believe in them.
func decode(body []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if err == nil || errors.Is(err, io.EOF) {
		return nil
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return unsupported("the local backend does not implement the parameter " + name)
	}
	return &wire.Fault{
		Status: 400, Code: "SerializationException", Prefix: "com.amazon.coral.service",
		Message: "the request body is not what the operation takes: " + err.Error(),
	}
}
