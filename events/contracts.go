// Package events is the contracts between the rooms that do not call each
// other: for each message and event one folder with samples of it. The samples
// are what the real writers write today, and the real readers read them in the
// tests beside; README.md lists them.
//
// Who reads this: whoever writes a receiver of webhooks, a producer of events or
// a second version of a function. Nothing imports it at run time.
package events

import "embed"

// Samples holds every sample, as folder/sample.json.
//
//go:embed */*.json
var Samples embed.FS

// Contract is one message or event.
type Contract struct {
	Folder string
	What   string
	From   string
	To     string
	Code   string // what writes and what reads it
	Grows  string // what its reader makes of members that it does not know, and of a newer schema
}

// Contracts lists them in the order of an execution's way.
var Contracts = []Contract{
	{"schedule-event", "the minute has begun", "EventBridge Scheduler", "function tick", "read by functions.Tick",
		"whatever the payload, it means now"},
	{"tick-message", "the tick of a minute, sent to itself", "function tick", "function tick", "queue.Client.SendTick, queue.OpenTick",
		"unknown members are passed over; a newer schema stays in the queue"},
	{"scan-message", "shards to be scanned", "function tick", "function scan", "queue.Client.SendScans, queue.OpenScan",
		"unknown members are passed over; a newer schema stays in the queue; what is no message is dropped"},
	{"work-message", "a pointer to an execution", "functions scan and api", "function work, container worker", "queue.Seal, queue.Open",
		"unknown members are passed over; a newer schema is hidden and never dead-lettered"},
	{"queue-event", "a batch of work messages", "SQS", "function work", "read by worker.Worker.Lambda",
		"a message that must stay is reported by its id, the rest is deleted"},
	{"stream-event", "what changed in the executions table", "DynamoDB Streams", "function record", "read by record.Read",
		"attributes that it does not know are passed over; items that are no execution leave nothing to write"},
	{"archive-row", "a transition, a verb, or a record that did not read", "function archive", "Athena, and whoever reads the bucket", "archive.Rows",
		"members are added, never renamed; each is a column of docs/archive.md"},
	{"http-request", "a request to the API", "API Gateway, payload format 2.0", "function api", "read by functions.Gateway",
		"members that it does not know are passed over; in the body they are refused"},
	{"problem", "a refusal of the API", "function api, `belfry dev`", "callers of the API", "httpapi, read by client.Problem",
		"`code` is stable; members are added, never renamed"},
	{"webhook-request", "an execution runs", "function work, container worker", "a webhook's receiver", "pkg/target",
		"headers are added, never renamed; the body is the job's payload, `{}` without one"},
}
