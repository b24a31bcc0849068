// Package sqs is the queue service of the local backend: standard queues with
// delays, visibility, redrive, batches and long polls.
//
// What happens to the data here: a queue lives in memory as three heaps, by
// the instant at which each message next changes, by readiness and by age, so
// that no call grows with what is stored. Every change also marks its message
// or queue as pending; before a call answers, it commits everything pending
// through the key-value engine, many calls in one transaction when they come
// together. What a caller was told has therefore been stored, and what is
// stored is enough to rebuild the heaps.
//
// Who calls: package wire, one goroutine a request.
//
// What it must never do: hold its lock while it waits (for the engine or for a
// message), poll, decide anything by chance, or let an old receipt handle
// delete a message that has been received again.
//
//	crash after                 what is there               who repairs it
//	change in memory            nothing of it               the caller, who got no answer
//	commit, before the answer   all of it                   a repeated send is a duplicate, as with SQS
//	receive committed           message hidden              its visibility ends, then it is delivered again
package sqs
