package target

import (
	"net/netip"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

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
	// AWS configures the clients of the targets that call AWS; nil = this worker has
	// no account, and their attempts fail for good with AWS_NOT_CONFIGURED.
	AWS *aws.Config
	// WithoutAWS is what such an attempt tells a person to do.
	WithoutAWS string
	// Installation is the installation's prefix. It keeps apart what two of them
	// start in one account.
	Installation string
	Clock        Clock // nil = the system's
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
	there := newAccount(o)
	hook, err := newWebhook(o)
	if err != nil {
		return err
	}
	hook.vault.account = there
	worker.Handle(w, job.Target{Webhook: &job.Webhook{}}.HandlerName(), hook.handle)
	worker.Handle(w, job.Target{Log: &job.LogTarget{}}.HandlerName(), logger{clock: o.Clock}.handle)
	worker.Handle(w, job.Target{Lambda: &job.LambdaTarget{}}.HandlerName(), there.invoke)
	worker.Handle(w, job.Target{SQS: &job.SQSTarget{}}.HandlerName(), there.send)
	worker.Handle(w, job.Target{SNS: &job.SNSTarget{}}.HandlerName(), there.publish)
	worker.Handle(w, job.Target{EventBridge: &job.EventBridgeTarget{}}.HandlerName(), there.put)
	worker.Handle(w, job.Target{StepFunctions: &job.StepFunctionsTarget{}}.HandlerName(), there.start)
	worker.Handle(w, job.Target{ECS: &job.ECSTarget{}}.HandlerName(), there.run)
	return nil
}
