package s3

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// presigned are the query parameters of a request that somebody with credentials
// signed for somebody without.
var presigned = []string{"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-Security-Token", "X-Amz-Signature", "X-Amz-SignedHeaders"}

// checkSigned holds such a request to its time and to the headers that were signed.
// The signature itself is not computed: nothing here is anybody's secret.
func (r *request) checkSigned(now time.Time) error {
	query := r.URL.Query()
	at, err := time.Parse("20060102T150405Z", query.Get("X-Amz-Date"))
	seconds, errExpires := strconv.Atoi(query.Get("X-Amz-Expires"))
	if err != nil || errExpires != nil || seconds < 1 || seconds > 604800 {
		return &fault{status: http.StatusBadRequest, code: "AuthorizationQueryParametersError",
			message: "Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters."}
	}
	if now.After(at.Add(time.Duration(seconds) * time.Second)) {
		return &fault{status: http.StatusForbidden, code: "AccessDenied", message: "Request has expired", members: []member{{"X-Amz-Expires", strconv.Itoa(seconds)}}}
	}
	for name := range strings.SplitSeq(query.Get("X-Amz-SignedHeaders"), ";") {
		given := r.Header.Get(name) != ""
		switch name {
		case "host":
			given = true
		case "content-length":
			given = r.ContentLength >= 0
		}
		if !given {
			return &fault{status: http.StatusForbidden, code: "SignatureDoesNotMatch",
				message: "The request signature we calculated does not match the signature you provided. Check your key and signing method."}
		}
	}
	return nil
}
