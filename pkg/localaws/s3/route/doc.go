// Package route reads off a request which operation of S3 it asks for, of which
// bucket and object.
//
// What happens to the data here: nothing is kept and no body is read. The
// protocol of S3 names no operation; method, path and the sub-resource in the
// query tell it together.
//
// Who calls: the service, which serves or refuses by that name, and package
// fault, which has faults put at it. What it must never do: guess. A request
// that the service's interface does not know has no name.
package route
