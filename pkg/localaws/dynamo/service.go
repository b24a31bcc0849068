package dynamo

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/expr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

// Options shape a Service. The zero value is a prompt, consistent service in
// us-east-1.
type Options struct {
	Region  string // in ARNs and stream records; "us-east-1" when empty
	Account string // in ARNs; "000000000000" when empty

	// IndexLag makes index reads stale: a change is seen by Query and Scan on
	// an index from IndexLag after its write on, in the order of the writes of
	// its table. Zero: at once.
	IndexLag time.Duration

	// Meter, when set, hears what every operation consumed, including what
	// the wire cannot report: refused conditions and cancelled transactions.
	// It is called outside of transactions and must be safe for concurrent use.
	Meter func(Consumption)
}

// Service is DynamoDB over one engine. It is safe for concurrent use.
type Service struct {
	engine   kv.Engine
	opts     Options
	cache    expr.Cache
	tables   sync.Map // name → *catalogEntry
	indexLag atomic.Int64
	lagged   atomic.Bool // some index change may be waiting for its time
}

// New returns the service of what engine holds. The engine stays the
// caller's to close.
func New(engine kv.Engine, opts Options) *Service {
	if opts.Region == "" {
		opts.Region = "us-east-1"
	}
	if opts.Account == "" {
		opts.Account = "000000000000"
	}
	s := &Service{engine: engine, opts: opts}
	s.indexLag.Store(int64(opts.IndexLag))
	s.lagged.Store(opts.IndexLag > 0 || s.anyWaiting())
	return s
}

// anyWaiting says whether an earlier service has left index changes that wait
// for their time. What cannot be read is reported by the calls that need it.
func (s *Service) anyWaiting() (waiting bool) {
	_ = s.engine.View(func(tx kv.Tx) error {
		tx.Ascend(catalogSpace, nil, func(name, _ []byte) bool {
			t, err := s.lookup(tx, string(name))
			waiting = err != nil || first(tx, t.lagSpace) != nil
			return !waiting
		})
		return nil
	})
	return waiting
}

type operation func(s *Service, body []byte) ([]byte, error)

var operations = map[string]operation{
	"CreateTable":        (*Service).createTable,
	"DescribeTable":      (*Service).describeTable,
	"ListTables":         (*Service).listTables,
	"DeleteTable":        (*Service).deleteTable,
	"UpdateTimeToLive":   (*Service).updateTimeToLive,
	"DescribeTimeToLive": (*Service).describeTimeToLive,
	"PutItem":            (*Service).putItem,
	"GetItem":            (*Service).getItem,
	"UpdateItem":         (*Service).updateItem,
	"DeleteItem":         (*Service).deleteItem,
	"Query":              (*Service).query,
	"Scan":               (*Service).scan,
	"BatchGetItem":       (*Service).batchGetItem,
	"BatchWriteItem":     (*Service).batchWriteItem,
	"TransactWriteItems": (*Service).transactWriteItems,
	"TransactGetItems":   (*Service).transactGetItems,
}

// ServeOperation answers one operation of DynamoDB_20120810. Errors are
// *wire.Fault, save for failures of the engine.
func (s *Service) ServeOperation(_ context.Context, name string, body []byte) ([]byte, error) {
	perform, known := operations[name]
	if !known {
		return nil, notImplemented("the operation %s is not implemented", name)
	}
	answer, err := perform(s, body)
	if err != nil {
		return nil, asFault(err)
	}
	return answer, nil
}

// SetIndexLag changes Options.IndexLag for writes from now on. Changes that
// wait already keep their times, and later ones queue behind them.
func (s *Service) SetIndexLag(lag time.Duration) {
	s.indexLag.Store(int64(lag))
	if lag > 0 {
		s.lagged.Store(true)
	}
}
