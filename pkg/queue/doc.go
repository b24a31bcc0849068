// Package queue is SQS: the names of an installation's queues, the envelopes
// that travel through them, and sending, receiving, hiding and deleting in
// batches.
//
// What happens to the data here: an execution that was admitted becomes a
// small pointer message on its pool's queue, delayed by the whole seconds that
// are left until it is due; a worker gets it back as the same pointer. Nothing
// that runs is in the message: what runs is what the table says.
//
// Who calls: the dispatch plane sends through Client.Send, the tick through
// SendScans and SendTick, pkg/worker receives and settles.
//
// What it must never do: decide. Whether a message may be deleted is decided
// by pkg/lifecycle; a message whose schema is newer than this build is shown as
// such, so that its bearer hides it and never lets it be dead-lettered.
//
// | crash after                  | what is there                  | who repairs it                                   |
// |------------------------------|--------------------------------|--------------------------------------------------|
// | send, before the answer      | the message, perhaps twice     | the claim: the second bearer sees the first      |
// | receive, before the answer   | the message, hidden            | its visibility ends                              |
// | delete decided, not yet sent | the message, hidden            | it returns, its bearer sees that it is over      |
package queue
