// Package bucket keeps the archive's objects in S3. It stands apart from the
// archive so that only the function that needs S3's client carries it.
//
// What it must never do: replace an object. A name tells what is in it, so one
// that is taken holds what we came to store.
package bucket
