// Package archive keeps every transition of every execution, and every audit
// entry, beyond the time that the tables keep them: as lines of JSON in objects
// of a bucket.
//
// What happens to the data here: records of the streams of the executions and
// control tables become rows (Rows, which is pure), the rows of one batch are
// cut into one object for each kind, tenant and day (Cut), and the objects are
// stored (Archiver). A row tells one transition, so an execution that is removed
// when its time to live has come leaves nothing more to tell.
//
// Who calls: the function behind the two streams. It is not the function that
// keeps the lists: either may fail, or lag, without the other.
//
// What it must never do: change anything in a table, lose a row because it
// cannot read it, or let one row hold up the others. What it cannot read it keeps
// as it came (kind "unread").
//
// Each object is named by what is in it: the sequence numbers of its first and
// last row, and a digest of the ids of all. So a name that is taken holds exactly
// these rows, and storing it again changes nothing.
//
// | what happens                              | what is there                   | who repairs it                              |
// |-------------------------------------------|---------------------------------|---------------------------------------------|
// | crash after some of a batch's objects     | those objects                   | the batch comes again; they are there already |
// | crash after all, before the answer        | all                             | the same                                    |
// | the batch comes again, cut differently    | its rows in objects of other names, too | readers: each row has an id, which is the same every time |
// | an object is refused                      | the others of its batch         | the whole batch is asked for again          |
// | the stream is read from its oldest record | as when a batch is cut differently | readers                                  |
package archive
