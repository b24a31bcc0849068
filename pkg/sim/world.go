package sim

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	sqslocal "github.com/belfry-scheduler/belfry/pkg/localaws/sqs"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

// Options of a world. The zero value has no faults, one scanner and two
// workers of pool fast-io.
type Options struct {
	Shards   int                                             // zero = 4
	Pools    dispatch.Pools                                  // nil = fast-io alone
	Workers  int                                             // per pool; zero = 2
	Decide   func(process string, c fault.Call) fault.Action // nil = no faults
	Work     execute.Work                                    // nil = success at once
	Log      *slog.Logger
	Meter    store.Meter
	Scanners int // zero = 1
	// Zones are the time zone database of a process's build, asked at each start of
	// it; nil, or a nil answer = the embedded one.
	Zones        func(process string) *schedule.Zones
	Retention    time.Duration // zero = 30 days
	RestoreEpoch int64         // of every process; above zero its tables come from backups (Load)
	Second       int           // of each minute at which the platform's schedule ticks
	// Mutate changes a process's planes before it starts, to take a rule of the
	// protocol away: the checks must then fail.
	Mutate func(b *assemble.Belfry, e *execute.Service)
	// Disturb has messages delivered late or twice.
	Disturb func(sqslocal.Sending) sqslocal.Disturbance
	Client  func(next aws.HTTPClient) aws.HTTPClient // around every call of every process; nil = none
}

// Run is one attempt as the handler saw it.
type Run struct {
	ID      string
	Ref     job.Ref
	Key     job.Key
	Attempt int
	Token   int64
	Epoch   int64
	At      time.Time
	Process string
}

// World is one simulated installation.
type World struct {
	Options Options
	Backend *localaws.Backend
	Control *assemble.Belfry // an undisturbed client, for the test itself

	mu    sync.Mutex
	runs  []Run
	moves []move
	words int
	stop  context.CancelFunc
	done  sync.WaitGroup
}

// move is one cursor move that a process was told had landed.
type move struct {
	ref   job.Ref
	epoch int64
	from  time.Time
	to    time.Time
}

// NewWorld makes tables and queues and starts no process. Call it inside a
// synctest bubble.
func NewWorld(ctx context.Context, o Options) (*World, error) {
	if o.Shards == 0 {
		o.Shards = 4
	}
	if o.Pools == nil {
		o.Pools = dispatch.Pools{{Name: "fast-io", Lease: 15 * time.Second, Ceiling: time.Hour, Slots: 8, Batch: 10}}
	}
	if o.Workers == 0 {
		o.Workers = 2
	}
	backend, err := localaws.New(localaws.Options{Disturb: o.Disturb})
	if err != nil {
		return nil, err
	}
	w := &World{Options: o, Backend: backend}
	clients := w.clients("control", nil)
	w.Control = w.assemble("control", clients)
	return w, w.Control.Ensure(ctx, clients)
}

// clients are SDK clients of one process incarnation.
func (w *World) clients(process string, transport aws.HTTPClient) assemble.Clients {
	cfg := w.Backend.Config()
	if transport != nil {
		cfg.HTTPClient = transport
	}
	cfg.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts = 3; o.RateLimiter = unlimited{} })
	}
	cfg.AppID = process
	return assemble.Clients{DynamoDB: dynamodb.NewFromConfig(cfg), SQS: sqs.NewFromConfig(cfg)}
}

// unlimited lets the SDK retry without its token bucket, which would couple
// unrelated calls.
type unlimited struct{}

// GetToken always has one.
func (unlimited) GetToken(context.Context, uint) (func() error, error) {
	return func() error { return nil }, nil
}

// AddTokens takes nothing.
func (unlimited) AddTokens(uint) error { return nil }

func (w *World) assemble(process string, c assemble.Clients) *assemble.Belfry {
	var zones *schedule.Zones
	if w.Options.Zones != nil {
		zones = w.Options.Zones(process)
	}
	return assemble.New(c, assemble.Settings{Shards: w.Options.Shards, Zones: zones, Retention: w.Options.Retention, RestoreEpoch: w.Options.RestoreEpoch, Pools: w.Options.Pools, Owner: process, Log: w.Options.Log, Meter: w.Options.Meter,
		Words: w.word, Spread: func() float64 { return 0.5 }})
}

// word is a new word at each call, the same in each run.
func (w *World) word() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.words++
	return fmt.Sprintf("word-%08d", w.words)
}

// Runs lists what handlers saw so far.
func (w *World) Runs() []Run {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Run{}, w.runs...)
}

// recorded wraps the world's work so that every attempt is noted.
func (w *World) recorded(process string) execute.Work {
	return func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
		e := a.Execution
		w.mu.Lock()
		w.runs = append(w.runs, Run{ID: e.ID(), Ref: e.Ref, Key: e.Key, Attempt: e.Attempt, Token: e.FencingToken, Epoch: e.Epoch,
			At: clock.System{}.Now(), Process: process})
		w.mu.Unlock()
		if w.Options.Work == nil {
			return nil
		}
		return w.Options.Work(ctx, a)
	}
}
