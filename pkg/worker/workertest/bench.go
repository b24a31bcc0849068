package workertest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/objects"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

const (
	// Pool is the pool of a bench, whose lease is Lease.
	Pool = "fast-io"
	// Lease is how long an attempt is its worker's without a heartbeat: what a
	// takeover waits for, and a few seconds more.
	Lease = 15 * time.Second
	// Bucket is the bucket of a bench, with checkpoints and payloads.
	Bucket = "belfry"
	// Drain is how long attempts may go on once their worker was told to stop.
	Drain = 30 * time.Second
)

// Bench is an installation in memory with one worker. It is used by one goroutine,
// the test's; handlers run on others.
type Bench struct {
	fail     func(format string, arguments ...any)
	ctx      context.Context
	backend  *localaws.Backend
	planes   *assemble.Belfry // those of the bench itself, which nothing disturbs
	register func(*worker.Worker)
	log      *slog.Logger
	notes    *notes
	s3       *s3.Client

	current *process
	all     []*process
	stop    context.CancelFunc // of the platform's part
	running sync.WaitGroup

	mu    sync.Mutex
	words int
	jobs  int
}

// Test runs a test on a bench, in a bubble of its own: register adds the handlers to
// each worker that the bench starts. A fault of the bench fails t.
func Test(t *testing.T, register func(*worker.Worker), test func(t *testing.T, b *Bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := open(t.Context(), t.Fatalf, register)
		defer b.close()
		test(t, b)
	})
}

// Play is Test where there is no test, as in an example: a fault of the bench panics.
func Play(register func(*worker.Worker), play func(b *Bench)) {
	synctest.Test(&testing.T{}, func(*testing.T) {
		b := open(context.Background(), func(format string, arguments ...any) { panic(fmt.Sprintf(format, arguments...)) }, register)
		defer b.close()
		play(b)
	})
}

func open(ctx context.Context, fail func(string, ...any), register func(*worker.Worker)) *Bench {
	b := &Bench{fail: fail, ctx: context.WithoutCancel(ctx), register: register, log: slog.New(slog.DiscardHandler), notes: &notes{begun: map[string][]attempt{}}}
	var err error
	if b.backend, err = localaws.New(localaws.Options{}); err != nil {
		b.fail("open the backend: %v", err)
	}
	clients := b.clients(b.backend.Client())
	b.planes = b.assemble("bench", clients, clock.System{})
	b.must("make tables and queues", b.planes.Ensure(b.ctx, clients.Clients))
	b.s3 = clients.s3
	_, err = b.s3.CreateBucket(b.ctx, &s3.CreateBucketInput{Bucket: aws.String(Bucket)})
	b.must("make the bucket", err)
	b.platform()
	b.next()
	return b
}

// close lets everything come to its end: a bubble ends with its last goroutine.
func (b *Bench) close() {
	b.stop()
	for _, p := range b.all {
		p.thaw()
		p.stop()
	}
	for _, p := range b.all {
		if err := <-p.done; !errors.Is(err, worker.ErrStuck) { // which is the handler's fault, and told by its execution
			b.must("end the worker "+p.name, err)
		}
	}
	b.running.Wait()
	b.Advance(time.Second) // requests that gather messages for some milliseconds
	b.must("close the backend", b.backend.Close())
}

func (b *Bench) must(doing string, err error) {
	if err != nil {
		b.fail("workertest: %s: %v", doing, err)
	}
}

// Advance lets time pass: whatever is due within d happens. It returns once nothing
// is left to do at the new time.
func (b *Bench) Advance(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // virtual time, which nothing else moves
	synctest.Wait()
}

// Now is the bench's time. It begins at midnight UTC, 2000-01-01.
func (b *Bench) Now() time.Time { return clock.System{}.Now() }

// clients are those of one process.
type clients struct {
	assemble.Clients
	s3 *s3.Client
}

func (b *Bench) clients(transport aws.HTTPClient) clients {
	config := b.backend.Config()
	config.HTTPClient = transport
	config.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) { o.RateLimiter = unlimited{} })
	}
	return clients{assemble.Clients{DynamoDB: dynamodb.NewFromConfig(config), SQS: sqs.NewFromConfig(config)}, s3.NewFromConfig(config)}
}

// unlimited lets the SDK retry without its token bucket, which would couple calls
// that have nothing to do with one another.
type unlimited struct{}

// GetToken always has one.
func (unlimited) GetToken(context.Context, uint) (func() error, error) {
	return func() error { return nil }, nil
}

// AddTokens takes nothing.
func (unlimited) AddTokens(uint) error { return nil }

// rules open the whole bucket to every job.
var rules = job.PayloadRules{Own: Bucket, Allowed: map[string][]string{"*": {"s3://" + Bucket + "/"}}}

func (b *Bench) assemble(owner string, c clients, clock assemble.Clock) *assemble.Belfry {
	planes := assemble.New(c.Clients, assemble.Settings{Shards: 1, Owner: owner, Clock: clock, Payloads: rules, Log: b.log,
		Pools: dispatch.Pools{{Name: Pool, Lease: Lease, Ceiling: 12 * time.Hour, Slots: 16, Batch: 10}},
		Words: b.word, Spread: func() float64 { return 0.5 }, Entropy: rand.NewChaCha8([32]byte{})})
	planes.Objects, planes.Payloads = objects.New(c.s3, Bucket), objects.NewPayloads(c.s3, rules)
	return planes
}

// word is a new one at each call, the same in each run.
func (b *Bench) word() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.words++
	return fmt.Sprintf("word-%015d", b.words)
}
