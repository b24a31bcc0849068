// Package cloud holds the targets in AWS: lambda, sqs, sns, eventbridge,
// stepfunctions and ecs. docs/targets.md is about them.
//
// What happens to the data here: an attempt becomes one call of the AWS SDK, which
// repeats nothing by itself, and is told in the call what it is for (contract). The
// answer becomes success or an error with a class and a code: what may pass is
// retried, what was throttled waits as long as the service asked, and what cannot
// work fails for good. An answer that says that an earlier attempt has started the
// same thing is success. What a call started goes to the attempt's log.
//
// Who calls: pkg/worker, for jobs with such a target; and pkg/target, for secrets
// that headers of webhooks refer to. Whoever runs executions registers it in main:
// the clients are too large for functions that call none.
//
// What it must never do: call any host but the service's own, write a payload or a
// secret to a log, or make a client before it is needed.
package cloud
