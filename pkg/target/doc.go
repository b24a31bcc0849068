// Package target holds the handlers that every installation has: webhook and log;
// those that call AWS are in package cloud below. They are handlers like anyone
// else's, registered under the names that job.Target.HandlerName gives;
// docs/targets.md is about all of them.
//
// What happens to the data here: an attempt becomes one HTTP POST, signed by the
// Standard Webhooks scheme, and the answer becomes success or an error with a
// class: what may pass is retried, what the receiver asked to be spared waits as
// long as it asked, and what cannot work fails for good. Secrets that headers refer
// to are put in their place as a request is made, kept in memory for a minute, and
// hidden in what comes back (vault).
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
