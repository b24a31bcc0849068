// Package signing signs HTTP requests with AWS signature version 4, so that
// services behind IAM know who calls.
//
// What happens to the data here: a request passes through a Transport, which
// reads its body, hashes it, signs a copy with the credentials of the moment and
// hands that copy to the transport under it. The request of the caller stays as
// it was.
//
// Who calls: the command line (BELFRY_AUTH=iam), the test of the deployed stack,
// and the export of traces to X-Ray. Programs put a Transport into the
// http.Client that they give to pkg/client, which itself knows nothing of AWS.
//
// What it must never do: show a key or a token, in an error too; send a request
// that it could not sign; send one in clear to another machine, since
// whoever reads it on the way has the session token; repeat one.
package signing
