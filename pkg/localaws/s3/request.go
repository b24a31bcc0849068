package s3

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/belfry-scheduler/belfry/pkg/localaws/s3/route"
)

// maxKey is the longest key, in bytes of UTF-8.
const maxKey = 1024

// request is one call with what it asks for.
type request struct {
	*http.Request
	route.Call
}

// everywhere are headers that every operation heeds, or that say only who asks.
var everywhere = []string{"X-Amz-Content-Sha256", "X-Amz-Date", "X-Amz-Expected-Bucket-Owner", "X-Amz-Security-Token", "X-Amz-User-Agent"}

// check refuses what the operation would pass over: silence would let a caller
// believe in it.
func (r *request) check(o operation, account string) error {
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		if !matters(name) || slices.Contains(everywhere, name) || slices.Contains(o.headers, name) {
			continue
		}
		if r.Operation == "PutObject" && (strings.HasPrefix(name, metadataPrefix) || strings.HasPrefix(name, checksumPrefix)) {
			continue
		}
		return notImplemented("the header " + name + " of " + r.Operation)
	}
	signed := r.URL.Query().Has("X-Amz-Signature")
	if signed {
		if err := r.checkSigned(time.Now()); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.URL.Query())) {
		if name != "x-id" && !slices.Contains(o.query, name) && (!signed || !slices.Contains(presigned, name)) {
			return notImplemented("the query parameter " + name + " of " + r.Operation)
		}
	}
	if owner := r.Header.Get("X-Amz-Expected-Bucket-Owner"); owner != "" && owner != account {
		return &fault{status: http.StatusForbidden, code: "AccessDenied", message: "Access Denied: the bucket belongs to account " + account}
	}
	return r.checkKey()
}

// matters tells whether a header of this name changes what an operation does.
func matters(name string) bool {
	return strings.HasPrefix(name, "X-Amz-") || strings.HasPrefix(name, "If-") || name == "Range" || name == "Content-Md5"
}

func (r *request) checkKey() error {
	switch {
	case !utf8.ValidString(r.Key):
		return &fault{status: http.StatusBadRequest, code: "InvalidURI", message: "Couldn't parse the specified URI: the key is no UTF-8"}
	case len(r.Key) > maxKey:
		return &fault{status: http.StatusBadRequest, code: "KeyTooLongError", message: "Your key is too long", members: []member{
			{"Size", decimal(int64(len(r.Key)))}, {"MaxSizeAllowed", decimal(maxKey)}}}
	case strings.ContainsFunc(r.Key, unicode.IsControl):
		// A list could not show it: XML has no way to write such a character.
		return notImplemented("keys with control characters")
	}
	return nil
}
