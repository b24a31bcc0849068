// Package localaws is the part of AWS that Belfry needs, in one process:
// DynamoDB with its streams, SQS and S3, over the services' own protocols.
//
// What happens to the data here: a Backend puts the services behind one
// http.Handler over one key-value engine, in memory or in a file. Requests
// reach it over a socket, or from an SDK client in the same process through
// Client, which calls the handler without any socket and so works inside
// testing/synctest.
//
// Who calls: tests, simulation and `belfry dev`. The functions that the
// platform would start are driven by package platform, faults are put in by
// package fault; both see only the SDK.
//
// What it must never do: read credentials, environment or instance metadata,
// open a connection, or answer as if it had done something that it does not
// implement.
package localaws
