// Package s3 is the object store of the local backend: buckets, whole objects
// with conditional writes, ranges, checksums and lists, over the REST protocol
// of S3.
//
// What happens to the data here: a body is read whole and bounded, taken out of
// the chunks and trailers in which SDKs send it, and compared with every
// checksum that came along, before anything else happens. Then one transaction
// of the key-value engine looks at the condition and writes; a reader sees all
// of an object or nothing of it.
//
// Who calls: the Backend in package localaws, over a socket or in memory, one
// goroutine a request.
//
// What it must never do: answer an operation or a parameter that it does not
// implement as if it had been heeded, hold a transaction open while it reads a
// body, or look at credentials; signatures are not checked.
//
//	crash after                  what is there         who repairs it
//	body read                    the object before     the caller, who got no answer
//	commit, before the answer    the new object        the caller's repetition; under If-None-Match it
//	                                                   meets its own write and is answered 412
package s3
