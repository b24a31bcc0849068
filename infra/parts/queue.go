package parts

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/queue"
)

// WorkQueue is a pool's queue with the two that belong to it. A message in it
// may be the only keeper of an execution, so all three survive their stack.
type WorkQueue struct {
	Main, Isolation, DeadLetter awssqs.IQueue
}

// NewWorkQueue makes the queues of a pool and what watches them.
func NewWorkQueue(scope constructs.Construct, i Installation, pool dispatch.Pool) WorkQueue {
	within := constructs.NewConstruct(scope, jsii.String("Pool-"+pool.Name))
	names := i.Queues()
	visibility := int(visibilityOf(pool) / time.Second)
	var q WorkQueue
	q.DeadLetter = i.queue(within, "DeadLetter", &awssqs.QueueProps{QueueName: jsii.String(names.DeadLetter(pool.Name)), RetentionPeriod: retained(queue.WorkRetention),
		VisibilityTimeout: retained(6 * DeadLetterTimeout), RemovalPolicy: awscdk.RemovalPolicy_RETAIN})
	Accept(q.DeadLetter, "AwsSolutions-SQS3", "This is the dead-letter queue.")
	dead := &awssqs.DeadLetterQueue{Queue: q.DeadLetter, MaxReceiveCount: jsii.Number(queue.MaxReceives)}
	for _, one := range []struct {
		id, name string
		queue    *awssqs.IQueue
	}{{"Main", names.Work(pool.Name), &q.Main}, {"Isolation", names.Isolation(pool.Name), &q.Isolation}} {
		*one.queue = i.queue(within, one.id, &awssqs.QueueProps{QueueName: &one.name, RetentionPeriod: retained(queue.WorkRetention), DeadLetterQueue: dead,
			VisibilityTimeout: seconds(visibility), RemovalPolicy: awscdk.RemovalPolicy_RETAIN})
		NewAlarm(within, one.id+"Oldest", i, AlarmShape{Name: one.name[len(i.Settings.Prefix)+1:] + "-oldest", Runbook: "queue-oldest",
			Says:   "The oldest message of " + one.name + " has waited for long: the pool's workers are too few, or gone.",
			Metric: queueMeasure(one.name, "ApproximateAgeOfOldestMessage"), AtLeast: float64(i.Settings.Alarms.OldestMessage), For: 3, Of: 5})
	}
	NewAlarm(within, "DeadLetterFilled", i, AlarmShape{Name: names.DeadLetter(pool.Name)[len(i.Settings.Prefix)+1:] + "-not-empty", Runbook: "dead-letters",
		Says:   "Messages stay in " + names.DeadLetter(pool.Name) + ": they were received too often, and the function that takes them up from there does not.",
		Metric: queueMeasure(names.DeadLetter(pool.Name), "ApproximateNumberOfMessagesVisible"), AtLeast: 1, For: 5})
	return q
}

// DeadLetterTimeout is the timeout of the function behind dead-letter queues.
const DeadLetterTimeout = time.Minute

// visibilityOf is six times what the pool's function has, so that a batch is
// never given out twice while the function has it. Of a container worker's
// queue it only bounds the moment before its claim.
func visibilityOf(pool dispatch.Pool) time.Duration {
	if pool.Kind == dispatch.KindECS {
		return queue.DefaultVisibility
	}
	return 6 * WorkTimeout(pool)
}

// windDown is what a function has beyond its pool's ceiling.
const windDown = time.Minute

// WorkTimeout is the timeout of the pool's function.
func WorkTimeout(pool dispatch.Pool) time.Duration { return pool.Ceiling + windDown }

// NewSignalQueue makes a queue of signals that a later one replaces: nothing in
// it is worth more than two minutes, so there is no dead-letter queue.
func NewSignalQueue(scope constructs.Construct, id string, i Installation, name string, oldest, visibility int) awssqs.Queue {
	q := i.queue(scope, id, &awssqs.QueueProps{QueueName: &name, RetentionPeriod: retained(queue.SignalRetention), VisibilityTimeout: seconds(visibility),
		RemovalPolicy: awscdk.RemovalPolicy_DESTROY})
	Accept(q, "AwsSolutions-SQS3", "The next minute sends signals anew; an old one must go, not be kept.")
	NewAlarm(q, "Oldest", i, AlarmShape{Name: name[len(i.Settings.Prefix)+1:] + "-signal-oldest", Runbook: "scan-trouble",
		Says:   "Signals wait in " + name + ": due jobs are found late.",
		Metric: queueMeasure(name, "ApproximateAgeOfOldestMessage"), AtLeast: float64(oldest), For: 3, Of: 5})
	return q
}

// NewFailureQueue keeps what functions were invoked with in vain, where the
// platform would otherwise drop it.
func NewFailureQueue(scope constructs.Construct, i Installation) awssqs.Queue {
	return NewFailureQueueOf(scope, "Failures", i, AlarmShape{Name: "failures-not-empty", Runbook: "failures",
		Says: "An invocation of tick or record was given up; the event is in the failure queue."})
}

// NewFailureQueueOf is one with an id and an alarm of its own, which rings at its
// first message.
func NewFailureQueueOf(scope constructs.Construct, id string, i Installation, filled AlarmShape) awssqs.Queue {
	q := i.queue(scope, id, &awssqs.QueueProps{RetentionPeriod: retained(queue.WorkRetention), RemovalPolicy: awscdk.RemovalPolicy_DESTROY})
	Accept(q, "AwsSolutions-SQS3", "This is where failed invocations end.")
	filled.Metric, filled.AtLeast, filled.For = q.MetricApproximateNumberOfMessagesVisible(nil), 1, 1
	NewAlarm(q, "Filled", i, filled)
	return q
}

// queue makes one queue, encrypted and closed to plain HTTP.
func (i Installation) queue(scope constructs.Construct, id string, props *awssqs.QueueProps) awssqs.Queue {
	props.EnforceSSL, props.Encryption = jsii.Bool(true), awssqs.QueueEncryption_SQS_MANAGED
	if i.Key != nil {
		props.Encryption, props.EncryptionMasterKey = awssqs.QueueEncryption_KMS, i.Key
	}
	return awssqs.NewQueue(scope, &id, props)
}

func retained(d time.Duration) awscdk.Duration { return seconds(int(d / time.Second)) }
