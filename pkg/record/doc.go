// Package record writes what people look at: each tenant's recent executions,
// the executions that need a person, and the timeline entries that no longer
// fit into their execution.
//
// What happens to the data here: records of the executions table's stream are
// read (Read), what they leave to write is gathered (Gather, which is pure), and
// written in as few items as there can be (Recorder). The same changes give the
// figures of single executions (Measure), each change once. Many executions of one
// tenant and minute share one item, so the lists cost a fraction of a write
// unit an execution.
//
// Who calls: the function behind the stream, and `belfry dev`. The records of
// one item come in order; those of different items come in any order and, after
// a failure, again in batches that are cut differently.
//
// What it must never do: change an execution, decide anything about one, or
// stop the stream because of a record that it cannot read. No claim or settle
// waits for it, and none is refused because a list is throttled.
//
// | crash after            | what is there                  | who repairs it                               |
// |------------------------|--------------------------------|----------------------------------------------|
// | some of a batch's items| those items                    | the batch comes again and writes them again  |
// | all, before the answer | all                            | the same                                     |
//
// Writing again is harmless because every item is named by what it tells of: a
// page by its first record, an entry of the attention list by its execution and
// its end, a history entry by its place in the whole timeline. Two pages may
// name one execution after a batch was cut differently; readers show it once.
package record
