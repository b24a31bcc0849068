// Package restore repairs what a restore from backups leaves behind, before
// anything runs again.
//
// The three tables come back one by one: jobs and control as they were at T − 60 s,
// executions as they were at T, so that no cursor stands ahead of its executions.
// What is wrong then:
//
//   - The verbs of that minute are gone from the jobs, not from the executions:
//     those carry epochs that no head has yet, times that the restored schedule
//     does not have, revisions that were never made, or were withdrawn by a pause
//     that nobody knows of any more.
//   - The queues hold no message for what waited, was running or was to be retried.
//   - Outside systems have seen tokens, and queues and workers epochs, that the
//     counters in the backup have not reached.
//
// The repair walks through both tables once. Executions come first, while the
// heads still tell which life of each job the backup knows: what the restored job
// wants is given the epoch that its head will have and a wake-up; the rest is
// withdrawn. Then each head is lifted to that epoch, the first of the new restore
// epoch, above everything that was ever given out. A head whose cursor stands ahead
// of its executions after all, since the tables were restored to other instants, has it
// set back in the same write.
//
// Until the last page is done the tick fans nothing out and verbs are refused, so
// nobody acts on half of it. Every step may be repeated, by several callers at a
// time: what a step has done it finds done.
package restore
