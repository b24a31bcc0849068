package localaws

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
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

	// Disturb has messages delivered late or more than once; see sqs.Options.
	Disturb func(sqs.Sending) sqs.Disturbance
}

// Backend serves DynamoDB, its streams and SQS. It is safe for concurrent use.
type Backend struct {
	region string
	engine kv.Engine
	queues *sqs.Service
	server *wire.Server
	close  func() error
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
	queues, err := sqs.New(stored, sqs.Options{Region: options.Region, Account: Account, Disturb: options.Disturb})
	if err != nil {
		return err
	}
	b.queues = queues
	b.server = wire.NewServer(nil,
		wire.Route{Target: "AmazonSQS", Service: queues},
	)
	return nil
}

// ServeHTTP answers calls of the AWS protocol, and GET /ping with 200 while
// the backend is open and 503 after.
func (b *Backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || r.URL.Path != "/ping" {
		b.server.ServeHTTP(w, r)
		return
	}
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
	return b.engine.View(func(kv.Tx) error { return nil })
}

// Config is what SDK clients in this process are made from, as in
// dynamodb.NewFromConfig(backend.Config()). It reads neither environment nor
// files, and its credentials are no secret.
func (b *Backend) Config() aws.Config {
	return aws.Config{
		Region:       b.region,
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
		BaseEndpoint: aws.String("http://local.invalid"),
		HTTPClient:   b.Client(),
	}
}

// Close ends long polls, refuses further calls and closes the file. Calling it
// again does nothing.
func (b *Backend) Close() error { return b.close() }

func (b *Backend) shut() error {
	b.queues.Close()
	if err := b.engine.Close(); err != nil {
		return fmt.Errorf("close the backend's engine: %w", err)
	}
	return nil
}
