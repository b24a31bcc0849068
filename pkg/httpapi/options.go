package httpapi

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Caller is who makes a request.
type Caller struct {
	Tenant    string // whose jobs it sees
	Principal string // name that audit entries and timelines show
}

// Reconciler sends again what is due and has no message.
type Reconciler interface {
	// Reconcile looks through executions from start on, empty = from the first, for
	// some seconds.
	Reconcile(ctx context.Context, start string) (job.Reconciled, error)
}

// Restorer repairs what a restore from backups leaves behind.
type Restorer interface {
	// Step repairs for some seconds and tells how far the repair has come.
	Step(ctx context.Context, actor string) (job.RestoreProgress, error)
}

// Backlogs tells which shards are behind.
type Backlogs interface {
	// Backlogs are the live layouts and the shards that hold overdue jobs, longest
	// first.
	Backlogs(ctx context.Context) ([]job.Layout, []job.Backlog, error)
}

// Options are what an installation decides. Entropy is required, all else may
// be left zero.
type Options struct {
	// Identify tells who calls; its error (a *job.Error) refuses the request.
	// nil: everyone is "anonymous" of tenant default.
	Identify func(*http.Request) (Caller, error)
	// Reconciler carries out POST /v1/reconcile. nil: it is refused as not built.
	Reconciler Reconciler
	// Restorer carries out POST /v1/restore. nil: it is refused as not built.
	Restorer Restorer
	// Backlogs answers GET /v1/shards. nil: it is refused as not built.
	Backlogs Backlogs
	// Sweeper answers GET /v1/sweeps. nil: it is refused as not built.
	Sweeper Sweeper
	// Ready says why the service cannot serve now; nil, or a nil error: it can.
	Ready func(ctx context.Context) error
	// Hosts are the host names, without port, under which the API may be called.
	// Empty: any. A service on loopback names itself here, so that no web page
	// reaches it through a name of its own (DNS rebinding).
	Hosts []string
	// Version is what health answers.
	Version string
	// Entropy makes request ids. It must be safe to read from several goroutines
	// one after the other.
	Entropy io.Reader
	// Logger gets one line for each request that failed through no fault of the
	// caller. nil: nothing is logged.
	Logger *slog.Logger
}

// maxBody bounds a request's body in bytes: a definition with the largest
// payload fits several times.
const maxBody = 256 << 10

// api is the service behind the handlers.
type api struct {
	control *control.Service
	options Options
	huma    huma.API
	mux     *http.ServeMux
	heeds   map[string]heeds // by the mux's pattern
	whole   *huma.Schema     // of a definition
	entropy sync.Mutex
}

// New serves the verbs of svc under /v1.
func New(svc *control.Service, options Options) http.Handler {
	if options.Identify == nil {
		options.Identify = func(*http.Request) (Caller, error) {
			return Caller{Tenant: job.DefaultTenant, Principal: "anonymous"}, nil
		}
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	a := &api{control: svc, options: options, mux: http.NewServeMux(), heeds: map[string]heeds{}}
	a.huma = humago.New(a.mux, configuration(options.Version))
	a.registerJobs()
	a.registerPatch()
	a.registerVerbs()
	a.registerBackfills()
	a.registerExecutions()
	a.registerDead()
	a.registerBreakers()
	a.registerReplays()
	a.registerCalendars()
	a.registerPayloads()
	a.registerSchedule()
	a.registerSystem()
	a.registerSweeps()
	a.registerDescription()
	return a.shell()
}

// configuration is the framework's, without what it would add by itself:
// no links to schemas in answers, no page that loads scripts from elsewhere.
func configuration(version string) huma.Config {
	config := huma.DefaultConfig("Belfry", version)
	config.Info.Description = "Jobs, their executions, and why each became what it is. Errors are RFC 9457 problems whose `code` is stable."
	config.CreateHooks = nil
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "", "", ""
	config.RejectUnknownQueryParameters = true
	// Answers may gain members; the types of requests say that they may not.
	config.AllowAdditionalPropertiesByDefault = true
	config.Formats = map[string]huma.Format{"application/json": strictJSON, "json": strictJSON}
	config.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[job.Definition](), reflect.TypeFor[Definition]())
	config.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[job.Schedule](), reflect.TypeFor[Schedule]())
	config.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[job.Calendar](), reflect.TypeFor[CalendarBody]())
	return config
}

// register adds one operation. Whatever error the verb returns becomes a
// problem.
func register[I, O any](a *api, op huma.Operation, verb func(context.Context, *I) (*O, error)) {
	op.MaxBodyBytes = maxBody
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := verb(ctx, in)
		if err != nil {
			return nil, a.refusal(ctx, err)
		}
		return out, nil
	})
	item := a.huma.OpenAPI().Paths[op.Path]
	for method, described := range map[string]*huma.Operation{http.MethodGet: item.Get, http.MethodPut: item.Put, http.MethodPost: item.Post, http.MethodPatch: item.Patch, http.MethodDelete: item.Delete} {
		if method == op.Method {
			a.heeds[op.Method+" "+op.Path] = heedsOf(described)
		}
	}
}

type contextKey int

const (
	callerKey contextKey = iota
	requestKey
)

func callerOf(ctx context.Context) Caller {
	caller, _ := ctx.Value(callerKey).(Caller)
	return caller
}

func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestKey).(string)
	return id
}

// jobRef is the caller's job of that name; a name that can be nobody's is refused.
func jobRef(ctx context.Context, name string) (job.Ref, error) {
	if err := job.CheckName("job", name); err != nil {
		return job.Ref{}, err
	}
	return job.Ref{Tenant: callerOf(ctx).Tenant, Job: name}, nil
}
