package target

import (
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
	// WebhookAllow are networks that webhooks may call although they are not
	// public; see Loopback.
	WebhookAllow []netip.Prefix
	// UserAgent is sent with every webhook; empty = "Belfry".
	UserAgent string
	Clock     Clock // nil = the system's
}

// Loopback are the networks of the machine itself, to be allowed where the
// receivers run beside the worker.
func Loopback() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
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
	worker.Handle(w, job.Target{Webhook: &job.Webhook{}}.HandlerName(), hook.handle)
	worker.Handle(w, job.Target{Log: &job.LogTarget{}}.HandlerName(), logger{clock: o.Clock}.handle)
	return nil
}
