// Package wire is the AWS JSON 1.0 protocol as the local backend speaks it: how
// an operation is named in a request, and how results and faults are written.
//
// What happens to the data here: a request's X-Amz-Target is split into service
// and operation, its body (bounded) is handed on unread, and what the Service
// returns is framed with the headers the SDKs look at: the request id, the
// server's Date, which callers use to judge their own clock, and for DynamoDB
// the body's CRC-32.
//
// Who calls: the Backend in package localaws, through http.Handler, over a
// socket or in memory. What it must never do: know what an operation means, or
// keep anything from one request to the next beyond a counter.
package wire
