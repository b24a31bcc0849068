package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"golang.org/x/sync/errgroup"

	"github.com/belfry-scheduler/belfry/functions"
	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/httpapi"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/observe/otlp"
	"github.com/belfry-scheduler/belfry/pkg/target"
	"github.com/belfry-scheduler/belfry/pkg/target/cloud"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// Options of the process. Every field is required, but for Log, Version,
// Pools, Types, AWS, Secrets, WebhookAllow, Traces and WebhookSecret.
type Options struct {
	Data      string // folder of everything that is kept; made when it is not there
	Listen    string // host:port of the API; port 0 = a free one
	AWSListen string // host:port of the local AWS endpoint; port 0 = a free one
	Version   string
	Entropy   io.Reader // for request ids and the webhook secret
	Log       *slog.Logger
	// Pools are those of the installation. Whatever their kind, the container
	// worker of this process serves them; ceilings are those of a deployment, so
	// that what is accepted here can be deployed. Empty = those that ship.
	Pools dispatch.Pools
	// Types are the types that a job may have; empty = a job has none.
	Types []string
	// WebhookSecret signs webhook calls: whsec_ and 24 to 64 bytes in base64.
	// Empty = one that is made once and kept in Data.
	WebhookSecret string
	// AWS is the account that targets in AWS are called in; nil = none, and attempts
	// of such jobs fail for good and say so.
	AWS *aws.Config
	// Secrets and WebhookAllow are what jobs may refer to and webhooks may call, beside
	// this machine, as in a deployment; zero = nothing.
	Secrets      []string
	WebhookAllow job.Reach
	// Traces takes the spans; nil = off. The process closes it.
	Traces *otlp.Export
	// Ready is called once, when API and workers serve, with the real
	// addresses. An error ends the process.
	Ready func(ctx context.Context, urls URLs) error
}

// URLs are where the process serves.
type URLs struct {
	API string
	AWS string
}

// shards of a new installation: one person's jobs need no 256.
const shards = 16

// drain is how long running attempts may go on after the process was told to
// stop.
const drain = 10 * time.Second

// server is the process in the making.
type server struct {
	Options
	backend *localaws.Backend
	planes  *functions.Installation
	clients assemble.Clients
	secret  string
}

// Run serves until ctx ends, then stops taking work, lets what runs finish for
// a while and closes the store. It returns nil after an orderly end.
func Run(ctx context.Context, o Options) error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if len(o.Pools) == 0 {
		o.Pools = dispatch.DefaultPools()
	}
	if err := o.Pools.Check(); err != nil {
		return err
	}
	if err := job.CheckTypes(o.Types); err != nil {
		return err
	}
	s := &server{Options: o}
	defer o.Traces.Close(context.WithoutCancel(ctx))
	apiListener, awsListener, err := o.listen(ctx)
	if err != nil {
		return err
	}
	defer func() { _, _ = apiListener.Close(), awsListener.Close() }() // closed by their servers after an orderly end
	if err := s.open(ctx); err != nil {
		return err
	}
	defer func() {
		if err := s.backend.Close(); err != nil {
			o.Log.Error("the data folder was not closed", slog.Any("error", err))
		}
	}()
	return s.serve(ctx, apiListener, awsListener)
}

func (o Options) listen(ctx context.Context) (api, aws net.Listener, err error) {
	if api, err = listen(ctx, "--listen", o.Listen); err != nil {
		return nil, nil, err
	}
	if aws, err = listen(ctx, "--aws-listen", o.AWSListen); err != nil {
		_ = api.Close() // nothing was served on it
		return nil, nil, err
	}
	return api, aws, nil
}

// listen opens a socket on loopback. Without login or token, no other
// interface may reach it.
func listen(ctx context.Context, flag, address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	if err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, &job.Error{Code: job.CodeInvalid, Field: flag, Value: job.Shorten(address), Bound: "a loopback address and a port, such as 127.0.0.1:8420",
			Message: "\"" + job.Shorten(address) + "\" is not an address on loopback", Fix: "belfry dev has no login, so it serves only this machine"}
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return nil, &job.Error{Code: job.CodeInvalid, Field: flag, Value: job.Shorten(port), Bound: "0 to 65535",
			Message: "\"" + job.Shorten(port) + "\" is not a port", Fix: "choose a port from 0 to 65535; 0 takes a free one"}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, &job.Error{Code: job.CodeUnavailable, Field: flag, Value: job.Shorten(address), Message: "cannot listen on " + address + ": " + rootCause(err),
			Fix: "stop what listens there, or choose another port; port 0 takes a free one"}
	}
	return listener, nil
}

// open opens the data folder and makes tables, queues and the bucket in it.
func (s *server) open(ctx context.Context) (err error) {
	if s.Data == "" {
		return &job.Error{Code: job.CodeInvalid, Field: "--data", Message: "no data folder is named", Fix: "name a folder that is made when it is not there, such as .belfry"}
	}
	if s.backend, err = localaws.New(localaws.Options{Dir: s.Data}); err != nil {
		return folderRefused(s.Data, err)
	}
	if s.secret = s.WebhookSecret; s.secret == "" {
		if s.secret, err = webhookSecret(s.secretFile(), s.Entropy); err != nil {
			return err
		}
	}
	config := s.backend.Config()
	s.clients = assemble.Clients{DynamoDB: dynamodb.NewFromConfig(config), SQS: sqs.NewFromConfig(config)}
	belfry := assemble.New(s.clients, assemble.Settings{Shards: shards, Pools: s.Pools, Types: s.Types, Log: s.Log, Tracer: s.Traces.Spans(), Payloads: payloadRules})
	belfry.Objects, belfry.Payloads = s.objects(), s.payloads()
	s.planes = functions.New(belfry, assemble.Environment{})
	if err := belfry.Ensure(ctx, s.clients); err != nil {
		return fmt.Errorf("make tables and queues: %w", err)
	}
	return s.ensureBucket(ctx)
}

func (s *server) secretFile() string { return filepath.Join(s.Data, "webhook-secret") }

// serve runs everything until ctx ends or a part fails.
func (s *server) serve(ctx context.Context, apiListener, awsListener net.Listener) error {
	handlers, err := s.worker()
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() {
		s.Log.Info("stopping: no more work is taken, what runs may finish; a second interrupt ends it at once", slog.Duration("drain", drain))
	})()
	urls := URLs{API: "http://" + apiListener.Addr().String(), AWS: "http://" + awsListener.Addr().String()}
	s.planes.Control.Uploads = s.uploads(urls.AWS)
	parts, ctx := errgroup.WithContext(ctx)
	serving := func(listener net.Listener, handler http.Handler) {
		server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
		parts.Go(func() error {
			if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		})
		parts.Go(func() error {
			<-ctx.Done()
			ending, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			defer stop()
			if server.Shutdown(ending) != nil {
				return server.Close()
			}
			return nil
		})
	}
	serving(awsListener, localOnly(hosts(awsListener), s.backend))
	serving(apiListener, s.api(hosts(apiListener)))
	parts.Go(func() error { return handlers.Run(ctx) })
	for _, drive := range s.platform() {
		parts.Go(func() error { return drive(ctx) })
	}
	parts.Go(func() error { return s.Ready(ctx, urls) })
	return parts.Wait()
}

func (s *server) worker() (*worker.Worker, error) {
	var served []worker.Pool
	for _, p := range s.Pools {
		served = append(served, worker.Pool{Name: p.Name, Lease: p.Lease, Slots: p.Slots})
	}
	w, err := worker.New(worker.Options{Queue: s.planes.Queues, Execution: s.planes.Execute(nil), Pools: served, Drain: drain, DeadLetters: true, Breakers: s.planes.Store, Log: s.Log})
	if err != nil {
		return nil, err
	}
	account := cloud.New(cloud.Options{AWS: s.AWS, WithoutAWS: withoutAWS, Installation: "dev"})
	account.Register(w)
	reach := target.Loopback()
	reach.Networks, reach.Hosts = append(reach.Networks, s.WebhookAllow.Networks...), s.WebhookAllow.Hosts
	err = target.Register(w, target.Options{WebhookSecret: s.secret, WebhookAllow: reach, Secrets: s.Secrets, UserAgent: "Belfry/" + s.Version,
		ReadSecret: account.ReadSecret})
	if err != nil {
		if s.WebhookSecret != "" {
			return nil, variableRefused(err)
		}
		return nil, secretRefused(s.secretFile(), err)
	}
	return w, nil
}

// withoutAWS is what an attempt of a job with a target in AWS tells.
const withoutAWS = "start `belfry dev --aws`, with AWS_REGION and credentials in the environment or by AWS_PROFILE"

func (s *server) api(hosts []string) http.Handler {
	return httpapi.New(s.planes.Control, httpapi.Options{
		Identify: func(*http.Request) (httpapi.Caller, error) {
			return httpapi.Caller{Tenant: job.DefaultTenant, Principal: "local"}, nil
		},
		Reconciler: s.planes.Trigger,
		Backlogs:   s.planes.Trigger,
		Restorer:   s.planes.Restore,
		Sweeper:    s.planes.Store,
		Ready:      s.backend.Ping,
		Hosts:      hosts,
		Version:    s.Version, Entropy: s.Entropy, Logger: s.Log,
	})
}
