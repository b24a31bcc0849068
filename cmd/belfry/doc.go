// Command belfry is the command line: nouns, then verbs (`belfry jobs list`,
// `belfry executions cancel ID`), over the HTTP API.
//
// Stdout carries what was asked for: aligned tables for people, with --json one
// JSON document. Stderr carries the rest: refusals with what to do next (with
// --json as a JSON document too), hints and signs of life. The exit code says
// what a refusal means to a script:
//
//	0 ok · 1 failed · 2 usage · 3 not found · 4 conflict · 5 refused by
//	validation · 6 unreachable · 7 not let in · 10 apply --dry-run found changes
//
// The command holds no rule of its own: definitions are judged by pkg/job and
// pkg/schedule before they are sent and by the service after. Settings enter
// here (flags, BELFRY_URL, BELFRY_AUTH, BELFRY_TOKEN, NO_COLOR, and those of the
// AWS SDK) and are handed on as values.
package main
