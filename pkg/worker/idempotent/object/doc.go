// Package object holds the tools of package idempotent for S3, where the newest
// attempt's object is to stand. The object keeps its fence in its metadata, under
// last-fencing-token, and a write names the object that it has read by its ETag, or
// that there is none.
//
// An ETag is a digest of the bytes. So Put cannot tell an object from a later one of
// the same bytes: when a newer attempt writes exactly what stood there before, an older
// one that froze between its read and its write is not refused. Where two attempts
// may write equal bytes, use Publish: it stores the bytes under a name of their own
// and registers them in a small object that holds the fence, so that its ETag changes
// with every newer attempt. For a result of several objects
// there is Draft: it stores parts under names of the attempt's own and registers them
// all at once, as a manifest.
//
// S3 answers 403 in place of 404 for an object that is not there to who may not list
// the bucket: the handler's role needs s3:GetObject, s3:PutObject and s3:ListBucket.
//
// What happens to the data here: it goes to the bucket with a condition and a fence.
// A write that met another's is decided anew on what is there then.
//
// What it must never do: delete (an object that is gone keeps no fence), or read what it
// writes over.
package object
