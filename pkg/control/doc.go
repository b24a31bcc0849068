// Package control is the control plane: what people and programs ask of jobs
// and executions, one file per verb.
//
// Every verb on a job is the same four steps: read the head strongly; compare
// and set the new head with its epoch raised (one transaction with the new
// revision, when there is one, and the audit entry); clean up; acknowledge.
// The clean-up turns the gap that the verb left into its ranged record and
// withdraws what the claim rule now refuses. A verb that crashed before its
// acknowledgement is safe to repeat, and repeating it repeats the clean-up.
//
// | crash after            | what is there                   | who repairs it                  |
// |------------------------|---------------------------------|---------------------------------|
// | the head's change      | gap in the head, old executions | the next scan closes the gap; a claim of an old execution withdraws it |
// | the ranged record      | record and gap                  | the next scan, with the same record |
// | some withdrawals       | the rest is SCHEDULED           | the claim rule refuses them     |
// | the put of a manual run| an execution with a wake-up     | the wake scan sends it          |
// | the put of a replay    | it, linked, audited, a wake-up  | the wake scan sends it          |
// | a retry now, a verdict | RETRY_WAIT with a wake-up       | the wake scan sends it          |
//
// The package never imports another plane, storage or AWS: it declares what it
// needs (Jobs, Executions, DeadLetters, Materialiser, Sender) and is handed it.
package control
