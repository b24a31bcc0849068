package assemble

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/oklog/ulid/v2"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/observe"
	"github.com/belfry-scheduler/belfry/pkg/queue"
	"github.com/belfry-scheduler/belfry/pkg/restore"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
	"github.com/belfry-scheduler/belfry/pkg/store"
	"github.com/belfry-scheduler/belfry/pkg/sweep"
	"github.com/belfry-scheduler/belfry/pkg/trigger"
)

// Clients are the AWS clients that everything runs on.
type Clients struct {
	DynamoDB *dynamodb.Client
	SQS      *sqs.Client
}

// Clock is what the planes need of time.
type Clock interface {
	// Now is the current time.
	Now() time.Time
	// Wait returns nil at or after until, or the context's error before.
	Wait(ctx context.Context, until time.Time) error
}

// Settings of an installation. The zero value is usable.
type Settings struct {
	Prefix       string // of tables and queues; empty = "belfry"
	Shards       int    // of the first layout; zero = 256
	RestoreEpoch int64  // raised by one after each restore from a backup
	Pools        dispatch.Pools
	Types        []string         // the job types that there are; empty = a job has none
	Payloads     job.PayloadRules // which references to payloads tenants may make; zero = none
	Retention    time.Duration    // how long ended executions are kept; zero = 30 days
	Owner        string           // name of this worker; empty = a random one
	Clock        Clock            // nil = the system's, put right by Skew
	Skew         *clock.Skew      // what answers tell of this machine's clock; nil = it is trusted
	Zones        *schedule.Zones  // nil = the embedded time zone database
	Log          *slog.Logger
	Meter        store.Meter
	Metrics      *observe.Emitter // nil = off
	Tracer       *observe.Tracer  // nil = off
	Words        func() string    // random words; nil = from the system's entropy
	Spread       func() float64   // random numbers in [0, 1); nil = from the system's entropy
	Entropy      io.Reader        // for serials; nil = the system's
}

// Belfry is an assembled installation.
type Belfry struct {
	Settings Settings
	Store    *store.Store
	Queues   *queue.Client
	Dispatch *dispatch.Service
	Trigger  *trigger.Service
	Control  *control.Service
	Restore  *restore.Service
	Sweep    *sweep.Service
	// Objects is the bucket for what is too large for the tables; nil, as New leaves
	// it: there is none. Set it before Execute.
	Objects execute.Objects
	// Payloads reads what jobs refer to; nil, as New leaves it: nothing can be read.
	// Set it before Execute.
	Payloads execute.Payloads
}

// New assembles the planes; it makes no call.
func New(c Clients, s Settings) *Belfry {
	s = s.filled()
	b := &Belfry{Settings: s}
	b.Store = store.New(c.DynamoDB, store.Options{Prefix: s.Prefix, Shards: s.Shards, RestoreEpoch: s.RestoreEpoch, Retention: s.Retention,
		Now: s.Clock.Now, Meter: s.Meter})
	b.Queues = queue.New(c.SQS, queue.Names{Prefix: s.Prefix}, s.Clock)
	b.Dispatch = &dispatch.Service{Queue: b.Queues, RestoreEpoch: s.RestoreEpoch}
	b.Trigger = &trigger.Service{Definitions: b.Store, Cursors: b.Store, Executions: b.Store, Backfills: b.Store, Wakes: b.Store, Admission: b.Dispatch,
		Signals: signals{b.Store, b.Queues, s.Clock}, Clock: s.Clock, Token: s.Words, RestoreEpoch: s.RestoreEpoch, Log: s.Log,
		Off: s.off(), Metrics: s.Metrics, Tracer: s.Tracer, Zones: s.Zones}
	b.Control = &control.Service{Jobs: b.Store, Executions: b.Store, Lists: b.Store, Requests: b.Store, Backfills: b.Store, Calendars: b.Store, DeadLetters: b.Store, Breakers: b.Store, Families: b.Store, Filler: b.Trigger, Materialiser: b.Trigger, Sender: b.Dispatch, Pools: s.Pools,
		Types: s.Types, Payloads: s.Payloads, Clock: s.Clock, Entropy: s.Entropy, RestoreEpoch: s.RestoreEpoch, Horizon: trigger.Horizon, Retention: b.Store.Retention(), Tracer: s.Tracer, Zones: s.Zones}
	b.Restore = &restore.Service{Progress: b.Store, Jobs: b.Store, Executions: b.Store, Families: b.Store, Clock: s.Clock, RestoreEpoch: s.RestoreEpoch,
		Kept: b.Store.Retention(), Log: s.Log}
	b.Sweep = &sweep.Service{Progress: b.Store, Jobs: b.Store, Executions: b.Store, Clock: s.Clock, Zones: s.Zones, Kept: b.Store.Retention(), Log: s.Log, Metrics: s.Metrics}
	return b
}

// Tick fans a minute out, as the trigger plane's Tick. The tick that did also
// sweeps for some seconds; a sweep that fails is no fault of the tick.
func (b *Belfry) Tick(ctx context.Context) (bool, error) {
	won, err := b.Trigger.Tick(ctx)
	if err != nil || !won {
		return won, err
	}
	if err := b.Sweep.Step(ctx); err != nil {
		b.log().ErrorContext(ctx, "the sweep was cut short; the next tick goes on", slog.Any("error", err))
	}
	return true, nil
}

func (b *Belfry) log() *slog.Logger {
	if b.Settings.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return b.Settings.Log
}

// Execute makes the execution plane of one worker, which runs work.
func (b *Belfry) Execute(work execute.Work) *execute.Service {
	s := b.Settings
	return &execute.Service{Definitions: b.Store, Executions: b.Store, Checkpoints: b.Store, Objects: b.Objects, Payloads: b.Payloads, Pins: b.Store, Families: b.Store, Makers: b.Store, Sender: b.Dispatch, Isolator: b.Dispatch, Leases: s.Pools, Clock: s.Clock, Work: work,
		Owner: s.Owner, Nonce: s.Words, Spread: s.Spread, RestoreEpoch: s.RestoreEpoch, Off: s.off(), Log: s.Log, Tracer: s.Tracer}
}

// Ensure makes tables and queues where they are absent, for local backends; a
// deployment's come from its stack.
func (b *Belfry) Ensure(ctx context.Context, c Clients) error {
	if err := store.CreateTables(ctx, c.DynamoDB, b.Settings.Prefix); err != nil {
		return err
	}
	return b.Queues.Ensure(ctx, b.Settings.Pools.Names())
}

// off tells by how much the machine's clock is off; nil = nobody knows.
func (s Settings) off() func() time.Duration {
	if s.Skew == nil {
		return nil
	}
	return s.Skew.Off
}

func (s Settings) filled() Settings {
	if s.Pools == nil {
		s.Pools = dispatch.DefaultPools()
	}
	if s.Clock == nil {
		s.Clock = clock.Corrected{Skew: s.Skew}
	}
	if s.Words == nil {
		s.Words = randomWord
	}
	if s.Spread == nil {
		s.Spread = randomSpread
	}
	if s.Entropy == nil {
		// Serials of one millisecond still sort in the order in which they were drawn.
		s.Entropy = &ulid.LockedMonotonicReader{MonotonicReader: ulid.Monotonic(rand.Reader, 0)}
	}
	if s.Owner == "" {
		s.Owner = "worker-" + s.Words()[:8]
	}
	return s
}

func randomWord() string {
	word := make([]byte, 10)
	_, _ = rand.Read(word) // never fails: crypto/rand ends the process instead
	return hex.EncodeToString(word)
}

func randomSpread() float64 {
	const steps = 1 << 30
	n, err := rand.Int(rand.Reader, big.NewInt(steps))
	if err != nil {
		return 0.5
	}
	return float64(n.Int64()) / steps
}

// signals joins what the trigger plane needs of the control table and of the
// signal queues.
type signals struct {
	*store.Store
	queues *queue.Client
	clock  Clock
}

// SendScans sends one message a shard range.
func (s signals) SendScans(ctx context.Context, minute time.Time, ranges []job.ShardRange) error {
	messages := make([]queue.ScanMessage, len(ranges))
	for i, r := range ranges {
		messages[i] = queue.ScanMessage{Generation: r.Generation, From: r.From, To: r.To - 1, Minute: minute, SentAt: s.clock.Now()}
	}
	return errors.Join(s.queues.SendScans(ctx, messages)...)
}

// SendTick sends the tick of a later minute.
func (s signals) SendTick(ctx context.Context, minute time.Time, delay time.Duration) error {
	return s.queues.SendTick(ctx, queue.TickMessage{Minute: minute}, delay)
}
