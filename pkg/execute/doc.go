// Package execute is the execution plane: what becomes of a message that a
// worker received. It claims the execution behind it, keeps the lease while the
// work runs, settles the outcome, and says whether the message may be deleted.
//
// A message is deleted only after its bearer has seen an ended, withdrawn or
// newer execution, has itself just written a wake-up, or has sent a successor.
// A worker that lost its lease deletes nothing.
//
// | crash after         | what is there                     | who repairs it                              |
// |---------------------|-----------------------------------|---------------------------------------------|
// | receive             | SCHEDULED, message hidden         | the message becomes visible again           |
// | claim               | RUNNING, lease, message hidden    | the message returns after the lease; its bearer sends a successor to the isolation queue, which takes over |
// | heartbeat           | RUNNING, longer lease             | as after the claim                          |
// | hand-off (wake-up)  | RUNNING, wake-up, message         | either one: both lead to the same decision  |
// | settle, ended       | ended, message hidden             | the message returns, is seen to be over, deleted |
// | settle, to be retried| RETRY_WAIT, message hidden       | the message returns and waits out the rest  |
// | successor sent      | two messages                      | whichever comes first claims, the other sees it |
//
// What the message says is never run: what runs is what the table says, under
// the claim rule of pkg/lifecycle. The package imports neither AWS nor another
// plane; pkg/worker feeds it and pkg/store satisfies what it needs.
package execute
