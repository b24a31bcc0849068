package route

import (
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Host is the name under which clients in the same process call the local
// backend. A name before it is that of a bucket, as in "jobs.local.invalid";
// every other host leaves the bucket to the path.
const Host = "local.invalid"

// Call is what a request asks for.
type Call struct {
	Operation string // as the service's interface names it, such as "PutObject"; empty when it knows none like this
	Bucket    string // empty when the request is of none
	Key       string // empty when the request is of no object
}

// Of reads the request's method, host, path and query; of its headers only
// the one that tells a copy from an upload.
func Of(r *http.Request) Call {
	call := Call{Bucket: bucketInHost(r)}
	path := strings.TrimPrefix(r.URL.Path, "/")
	if call.Bucket != "" {
		call.Key = path
	} else {
		call.Bucket, call.Key, _ = strings.Cut(path, "/")
	}
	call.Operation = operation(r, call)
	return call
}

func bucketInHost(r *http.Request) string {
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	bucket, found := strings.CutSuffix(host, "."+Host)
	if !found {
		return ""
	}
	return bucket
}

func operation(r *http.Request, call Call) string {
	of, query := "object", r.URL.Query()
	switch {
	case call.Bucket == "":
		of = "service"
	case call.Key == "":
		of = "bucket"
	}
	name := r.Method + " " + of
	for _, parameter := range slices.Sorted(maps.Keys(query)) {
		if sub, known := operations[name+" "+parameter]; known {
			return refine(sub, query, r.Header)
		}
	}
	return refine(operations[name], query, r.Header)
}

// refine tells apart operations that share method and sub-resource.
func refine(name string, query url.Values, header http.Header) string {
	if header.Get("X-Amz-Copy-Source") != "" {
		switch name {
		case "PutObject":
			return "CopyObject"
		case "UploadPart":
			return "UploadPartCopy"
		}
	}
	if one, many := lists[name]; many && query.Has(one.parameter) {
		return one.name
	}
	return name
}
