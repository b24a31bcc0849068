// Package target holds the handlers that every installation has: webhook, log,
// and those that call AWS (lambda, sqs, sns, eventbridge, stepfunctions, ecs). They
// are handlers like anyone else's, registered under the names that
// job.Target.HandlerName gives; docs/targets.md is about them.
//
// What happens to the data here: an attempt becomes one call, and is told what it
// is for in the call itself (contract). A webhook is an HTTP POST, signed by the
// Standard Webhooks scheme; the others are one call of the AWS SDK each, which
// repeats nothing by itself. The answer becomes success or an error with a class:
// what may pass is retried, what the other side asked to be spared waits as long as
// it asked, and what cannot work fails for good. What a call started goes to the
// attempt's log. Secrets that headers refer to are put in their place as a request
// is made, kept in memory for a minute, and hidden in what comes back (vault).
//
// Who calls: pkg/worker, for jobs whose target is one of these.
//
// What it must never do: write a payload, a header's value or a secret to a log,
// follow a redirect, use a proxy that the environment names, or connect to an
// address inside the installation's own network that was not allowed.
//
// | answer                                  | becomes                                        |
// |-----------------------------------------|------------------------------------------------|
// | 2xx                                     | success                                        |
// | 429, or 503 with Retry-After            | throttled; at least Retry-After, HTTP_429, …   |
// | 408, 425, other 5xx, connection failed  | retried                                        |
// | no answer within the job's timeout      | timed out; retried                             |
// | 3xx                                     | failed for good: redirects are not followed    |
// | other 4xx                               | failed for good                                |
// | refused address, URL that cannot be used| failed for good                                |
package target
