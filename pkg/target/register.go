package target

import (
	"context"
	"net/netip"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// Clock tells the time.
type Clock interface {
	// Now is the current time.
	Now() time.Time
}

// Options of the targets. The zero value signs nothing and refuses every
// address that is not public.
type Options struct {
	// WebhookSecret is the installation's signing key: whsec_ and 24 to 64 bytes
	// in base64. Empty = requests carry no signature.
	WebhookSecret string
	// WebhookAllow is what webhooks may call although it is not public; see Loopback.
	WebhookAllow job.Reach
	// UserAgent is sent with every webhook; empty = "Belfry".
	UserAgent string
	// Secrets are the rules of the secrets that headers of webhooks may refer to, see
	// job.SecretRef; nil = none.
	Secrets []string
	// ReadSecret reads the whole text of one, such as cloud.Account.ReadSecret; nil =
	// the worker reads none.
	ReadSecret func(ctx context.Context, ref job.SecretRef) (string, error)
	Clock      Clock // nil = the system's
}

// Loopback are the networks of the machine itself, to be allowed where the
// receivers run beside the worker.
func Loopback() job.Reach {
	return job.Reach{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}}
}

// Register adds the targets to a worker. The error tells what is wrong with the
// signing key.
func Register(w *worker.Worker, o Options) error {
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	hook, err := newWebhook(o)
	if err != nil {
		return err
	}
	worker.Handle(w, job.Target{Webhook: &job.Webhook{}}.HandlerName(), hook.handle, worker.ConfirmAttempt(hook.confirm), worker.ResourceOf(resource))
	worker.Handle(w, job.Target{Log: &job.LogTarget{}}.HandlerName(), logger{clock: o.Clock}.handle)
	return nil
}
