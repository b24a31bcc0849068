package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/dev"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/observe/otlp"
)

// devHelp is what `belfry dev --help` says.
const devHelp = `Run all of Belfry in this process: the API, the tick (once a minute, as in a
deployment), scanners, workers and a local AWS endpoint that keeps everything in
the folder of --data. What is stored survives the process, also kill -9.

When it serves it prints "ready http://127.0.0.1:PORT" alone on a line. It listens
on loopback only and needs no login. The AWS endpoint answers DynamoDB, SQS and S3
(one bucket, named belfry), to any credentials and in any region:

  export AWS_DEFAULT_REGION=us-east-1 AWS_ACCESS_KEY_ID=any AWS_SECRET_ACCESS_KEY=any
  aws dynamodb scan --table-name belfry-executions --endpoint-url http://127.0.0.1:8421

Pools, and the longest timeout of a job in each, are those of a deployment: the
ones that ship, or those of the file that --pools names, which is the file that
pools_file names in the settings of the stacks (infra/pools.yaml has every key).
Workers of this process serve all of them, and there are 16 shards, not 256.

Webhook calls are signed with BELFRY_WEBHOOK_SECRET, or else with a secret that is
made once and kept in the folder of --data, in the file webhook-secret.

Targets in AWS (lambda, sqs, sns, eventbridge, stepfunctions, ecs) need an account:
with --aws they are called in the region and with the credentials that the AWS
command line would use. Without it such jobs are taken, and their attempts fail
with AWS_NOT_CONFIGURED. BELFRY_SECRETS lists what headers of webhooks may refer to,
BELFRY_WEBHOOK_ALLOW what webhooks may call beside public addresses and this machine,
both as in a deployment.

Traces of executions go to the collector that --traces names, or the variables of
OpenTelemetry (OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER and so on).

Stop it with Ctrl-C: it takes no more work and lets what runs finish, for up to
10 s. A second Ctrl-C ends it at once; what was cut off runs again after a start.`

func (a *app) devCommand() *cobra.Command {
	var o dev.Options
	var files []string
	var level, traces, pools string
	var account bool
	c := &cobra.Command{Use: "dev", Short: "Run all of Belfry in this process, with no account and no Docker",
		Long:    devHelp,
		Example: "  belfry dev\n  belfry dev --apply examples/jobs.yaml\n  belfry dev --pools infra/pools.yaml\n  belfry dev --data /tmp/belfry --listen 127.0.0.1:0 --aws-listen 127.0.0.1:0", Args: upTo(0)}
	c.Flags().StringVar(&o.Data, "data", ".belfry", "folder that keeps everything")
	c.Flags().StringVar(&o.Listen, "listen", "127.0.0.1:8420", "address of the API; port 0 takes a free one")
	c.Flags().StringVar(&o.AWSListen, "aws-listen", "127.0.0.1:8421", "address of the local AWS endpoint; port 0 takes a free one")
	c.Flags().StringArrayVar(&files, "apply", nil, "job file to apply once it serves (repeatable)")
	c.Flags().StringVar(&pools, "pools", "", "file of pools, as a deployment reads it, or - for stdin (default the pools that ship)")
	c.Flags().StringSliceVar(&o.Types, "types", nil, "types that a job may have, joined by commas (up to 20)")
	c.Flags().BoolVar(&account, "aws", false, "call targets in AWS, in the account of the environment")
	c.Flags().StringVar(&traces, "traces", "", "OTLP endpoint that takes traces, such as http://127.0.0.1:4318 (default $OTEL_EXPORTER_OTLP_ENDPOINT, then none)")
	c.Flags().StringVar(&level, "log-level", "info", "debug, info, warn or error")
	c.RunE = func(c *cobra.Command, _ []string) error {
		log, err := a.logger(level)
		if err != nil {
			return err
		}
		if o.Pools, err = a.readPools(c, pools); err != nil {
			return err
		}
		if o.Traces, err = a.devTraces(c.Context(), traces, log); err != nil {
			return err
		}
		if err = a.devReach(c.Context(), &o, account); err != nil {
			return err
		}
		o.Version, o.Entropy, o.Log, o.WebhookSecret = versionText(), rand.Reader, log, a.env("BELFRY_WEBHOOK_SECRET")
		o.Ready = func(ctx context.Context, urls dev.URLs) error { return a.devReady(ctx, c, urls, files) }
		if err := dev.Run(c.Context(), o); err != nil {
			return &notStarted{err}
		}
		return nil
	}
	return c
}

// notStarted is a process that could not serve, or no longer can. It is no
// service that could not be reached, whatever its code says.
type notStarted struct{ error }

func (e *notStarted) Unwrap() error { return e.error }

// devReady says where it serves, then applies the files. A file that is
// refused is told and does not end the process.
func (a *app) devReady(ctx context.Context, c *cobra.Command, urls dev.URLs, files []string) error {
	if a.json {
		if err := writeJSON(a.out, map[string]string{"ready": urls.API, "aws": urls.AWS}); err != nil {
			return err
		}
	} else if _, err := fmt.Fprintf(a.out, "ready %s\n", urls.API); err != nil {
		return err
	}
	if len(files) == 0 {
		return nil
	}
	read, err := a.readJobs(c, files)
	// Nobody has to sign in here, whatever the environment says of other services.
	here := &app{in: a.in, out: a.err, err: a.err, env: func(string) string { return "" }, now: a.now, local: a.local, url: urls.API}
	err = here.applyRead(ctx, read, err, false)
	var quiet silent
	if err != nil && !errors.As(err, &quiet) && ctx.Err() == nil {
		a.report(err, "belfry dev --apply")
	}
	return nil
}

// devTraces makes the export that --traces or the variables of OpenTelemetry ask
// for; nil when neither names an endpoint.
func (a *app) devTraces(ctx context.Context, endpoint string, log *slog.Logger) (*otlp.Export, error) {
	settings, err := otlp.ReadSettings(func(name string) (string, bool) {
		switch {
		case endpoint == "":
		case name == "OTEL_EXPORTER_OTLP_ENDPOINT":
			return endpoint, true
		case name == "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT":
			return "", false
		}
		value := a.env(name)
		return value, value != ""
	})
	var refused *job.Error
	if errors.As(err, &refused) && endpoint != "" && refused.Field == "OTEL_EXPORTER_OTLP_ENDPOINT" {
		refused.Field, refused.Fix = "--traces", "write it as http://127.0.0.1:4318"
	}
	if err != nil {
		return nil, err
	}
	return assemble.Traces(ctx, settings, assemble.Settings{Log: log}, "belfry-dev", versionText(), aws.Config{})
}

// devReach reads what targets may reach: the account, secrets, private addresses.
func (a *app) devReach(ctx context.Context, o *dev.Options, account bool) (err error) {
	told, err := assemble.ReadEnvironment(func(name string) (string, bool) {
		if name != "BELFRY_SECRETS" && name != "BELFRY_WEBHOOK_ALLOW" {
			return "", false
		}
		value := a.env(name)
		return value, value != ""
	})
	if err != nil {
		return err
	}
	if o.Secrets, o.WebhookAllow = told.Secrets, told.WebhookAllow; account {
		o.AWS, err = devAccount(ctx)
	}
	return err
}

// devAccount is the account that the environment names, as the AWS command line
// would find it.
func devAccount(ctx context.Context) (*aws.Config, error) {
	account, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, &job.Error{Code: job.CodeInvalid, Field: "--aws", Message: "the AWS settings of the environment do not read: " + job.Shorten(err.Error()), Fix: "mend them: aws sts get-caller-identity must answer"}
	}
	if account.Region == "" {
		return nil, &job.Error{Code: job.CodeInvalid, Field: "AWS_REGION", Message: "no region is named in which targets are to be called", Fix: "set AWS_REGION, or AWS_PROFILE to a profile with a region"}
	}
	asking, done := context.WithTimeout(ctx, 10*time.Second)
	defer done()
	if _, err := account.Credentials.Retrieve(asking); err != nil {
		return nil, &job.Error{Code: job.CodeInvalid, Field: "--aws", Message: "there are no AWS credentials", Fix: "sign in so that aws sts get-caller-identity answers, or leave --aws out"}
	}
	return &account, nil
}

func (a *app) logger(level string) (*slog.Logger, error) {
	var at slog.Level
	if err := at.UnmarshalText([]byte(level)); err != nil {
		return nil, &job.Error{Code: job.CodeInvalid, Field: "--log-level", Value: job.Shorten(level), Bound: "debug, info, warn, error",
			Message: "\"" + job.Shorten(level) + "\" is no log level", Fix: "choose one of debug, info, warn, error"}
	}
	return slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: at})), nil
}
