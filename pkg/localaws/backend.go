package localaws

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
	"github.com/belfry-scheduler/belfry/pkg/localaws/s3"
	"github.com/belfry-scheduler/belfry/pkg/localaws/s3/route"
	"github.com/belfry-scheduler/belfry/pkg/localaws/sqs"
	"github.com/belfry-scheduler/belfry/pkg/localaws/wire"
)

// Account is the account that everything in the backend belongs to.
const Account = "000000000000"

// Options configure a Backend. The zero value is a backend in memory, in
// us-east-1, without disturbances.
type Options struct {
	Dir    string // where state is kept, made when it is not there; empty = in memory only
	Region string // empty = us-east-1

	// IndexLag makes reads of secondary indexes stale by this much; 0 = never.
	IndexLag time.Duration
	// Meter hears what every DynamoDB operation consumed; see dynamo.Options.
	Meter func(dynamo.Consumption)

	// Disturb has messages delivered late or more than once; see sqs.Options.
	Disturb func(sqs.Sending) sqs.Disturbance
	// MaxInFlight bounds the messages in flight in one queue; 0 = SQS's 120 000.
	MaxInFlight int

	// MaxObject bounds an object of S3, in bytes; 0 = s3.MaxObject.
	MaxObject int64
}

// Backend serves DynamoDB, its streams, SQS and S3. It is safe for concurrent use.
type Backend struct {
	region  string
	engine  kv.Engine
	tables  *dynamo.Service
	queues  *sqs.Service
	objects *s3.Service
	server  *wire.Server
	closed  atomic.Bool
	close   func() error
}

// New opens a backend. With a Dir it continues from the state that it finds
// there, also after a crash; only one process can have a Dir open.
func New(options Options) (*Backend, error) {
	if options.Region == "" {
		options.Region = "us-east-1"
	}
	engine, err := openEngine(options.Dir)
	if err != nil {
		return nil, err
	}
	b := &Backend{region: options.Region, engine: engine}
	b.close = sync.OnceValue(b.shut)
	if err := b.openServices(options); err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	return b, nil
}

func openEngine(dir string) (kv.Engine, error) {
	if dir == "" {
		return kv.NewMemory(), nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the backend's directory: %w", err)
	}
	engine, err := kv.OpenBolt(filepath.Join(dir, "aws.db"))
	if err != nil {
		return nil, fmt.Errorf("open the backend's file: %w", err)
	}
	return engine, nil
}

func (b *Backend) openServices(options Options) error {
	// Queues in memory need no engine beneath them: they are their own index.
	var stored kv.Engine
	if options.Dir != "" {
		stored = b.engine
	}
	queues, err := sqs.New(stored, sqs.Options{
		Region: options.Region, Account: Account, MaxInFlight: options.MaxInFlight, Disturb: options.Disturb,
	})
	if err != nil {
		return err
	}
	b.queues = queues
	b.tables = dynamo.New(b.engine, dynamo.Options{
		Region: options.Region, Account: Account, IndexLag: options.IndexLag, Meter: options.Meter,
	})
	b.objects = s3.New(b.engine, s3.Options{Region: options.Region, Account: Account, MaxObject: options.MaxObject})
	b.server = wire.NewServer(nil,
		wire.Route{Target: "DynamoDB_20120810", Service: b.tables, Checksum: true},
		wire.Route{Target: "DynamoDBStreams_20120810", Service: b.tables.Streams(), Checksum: true},
		wire.Route{Target: "AmazonSQS", Service: queues},
	)
	return nil
}

// ServeHTTP answers calls of the AWS protocols, and GET /ping with 200 while
// the backend is open and 503 after. A bucket's name stands first in the path;
// from clients in this process (Config) it may also stand before the host.
func (b *Backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case named(r):
		b.server.ServeHTTP(w, r)
	case r.Method == http.MethodGet && r.URL.RequestURI() == "/ping" && route.Of(r).Key == "":
		b.ping(w, r)
	default:
		b.objects.ServeHTTP(w, r)
	}
}

// named tells whether the request names its service and operation, as all of
// the JSON protocol do. One that posts nothing that S3 would know was meant to.
func named(r *http.Request) bool {
	return r.Header.Get("X-Amz-Target") != "" || r.Method == http.MethodPost && r.URL.RawQuery == ""
}

func (b *Backend) ping(w http.ResponseWriter, r *http.Request) {
	if err := b.Ping(r.Context()); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
}

// Ping tells whether the backend can read its state.
func (b *Backend) Ping(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if b.closed.Load() {
		return errors.New("the local backend has been closed")
	}
	return b.engine.View(func(kv.Tx) error { return nil })
}

// Config is what SDK clients in this process are made from, as in
// dynamodb.NewFromConfig(backend.Config()); those of S3 may use either style of
// address. It reads neither environment nor files, and its credentials are no
// secret.
func (b *Backend) Config() aws.Config {
	return aws.Config{
		Region:       b.region,
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
		BaseEndpoint: aws.String("http://" + route.Host),
		HTTPClient:   b.Client(),
		// What the SDK's own loader of configurations chooses.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenSupported,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenSupported,
	}
}

// SetIndexLag changes Options.IndexLag for writes from now on.
func (b *Backend) SetIndexLag(lag time.Duration) { b.tables.SetIndexLag(lag) }

// SweepExpired removes the items whose time to live has passed, as DynamoDB
// does within days, and returns how many. The backend never does so by itself:
// whoever drives it decides how late the service is.
func (b *Backend) SweepExpired() (int, error) { return b.tables.SweepExpired(time.Now()) }

// ExpireObjects removes a bucket's objects under the prefix that were last
// written that long ago or longer, as a lifecycle rule of S3 does within days,
// and returns how many. As with SweepExpired, whoever drives the backend decides
// when.
func (b *Backend) ExpireObjects(bucket, prefix string, age time.Duration) (int, error) {
	return b.objects.Expire(bucket, prefix, time.Now().Add(-age))
}

// Close ends long polls, refuses further calls and closes the file. Calling it
// again does nothing.
func (b *Backend) Close() error { return b.close() }

func (b *Backend) shut() error {
	b.closed.Store(true)
	b.server.Close()
	b.queues.Close()
	b.objects.Close()
	if err := b.engine.Close(); err != nil {
		return fmt.Errorf("close the backend's engine: %w", err)
	}
	return nil
}
