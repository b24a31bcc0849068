// Package objects keeps what is too large for the tables in the installation's
// bucket of S3: checkpoints and payloads.
//
// What happens to the data here: an object is written whole under a name that is
// used once, and read whole or refused. The pointer to it is written after it, by
// whoever owns what it belongs to; an object that no pointer names is an orphan,
// which a rule of the bucket takes away in time.
//
// What it must never do: change an object that is there, list, or keep anything that
// decides about an execution.
//
// | crash after      | what is there                      | who repairs it          |
// |------------------|------------------------------------|-------------------------|
// | the object's put | an object that nothing points to   | the bucket's rule       |
// | the pointer      | the object before it, unnamed      | the bucket's rule       |
package objects
