// Package trigger is the trigger plane: it turns due times into stored
// executions. A tick fans the shards out once a minute; a scan reads what is
// due in its shards up to the horizon and, per scheduled time, puts the
// execution, sends its message and advances the job's cursor, in this order.
// Until the advance lands the job stays in the due index, so the due index is
// the outbox.
//
// | crash after     | what is there                             | who repairs it                                  |
// |-----------------|-------------------------------------------|-------------------------------------------------|
// | plan            | the plan in the head                      | the next scan carries out the same plan         |
// | late times closed | MISSED executions, the plan               | the next scan closes the rest                   |
// | ranged record   | the record, the plan or gap               | the next scan writes the same record again: a no-op |
// | some puts       | executions without messages               | the next scan: the put loses, the message is sent |
// | sends           | executions, messages, the old cursor      | the next scan sends again; the claim decides     |
// | advance         | all                                       | nobody needs to                                  |
// | fan-out, no tick sent | a minute scanned, no next one       | the platform's own minute schedule               |
// | wake-up sent    | a message, the wake-up                    | the next scan sends again                        |
//
// Backfills (fill.go) stand in the same index. A scan works them off after the jobs
// of its shards, in the same order and with the same crash table: put, send, then
// the backfill's cursor. They stay until every time of theirs has begun, so that
// what a verb withdraws is made again once the job goes on.
//
// A scanner may be slow, double or stale at any step: every write is fenced by
// epoch and cursor, and the claim rule of pkg/lifecycle decides what may run. While
// a late plan stands in the head only its own advance may move the cursor, and a
// time that has become late during a scan is left to the next one's plan.
// A job whose schedule cannot be evaluated is disabled by itself; a job that
// fails never stops its shard.
package trigger
