package httpapi

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// A request says what it wants in its query, its body and its conditions. What an
// operation would not heed there is refused: a dry run that is not one, a condition
// that nobody looks at and a choice in a body that nobody reads are found out too late.

// heeds is what an operation takes of a request beside its path.
type heeds struct {
	body    bool
	headers []string
	lists   []string // query parameters that may be given several times
}

// heedsOf reads it from the description of the operation.
func heedsOf(op *huma.Operation) heeds {
	h := heeds{body: op.RequestBody != nil}
	for _, p := range op.Parameters {
		switch {
		case p.In == "header":
			h.headers = append(h.headers, p.Name)
		case p.In == "query" && p.Schema.Type == huma.TypeArray:
			h.lists = append(h.lists, p.Name)
		}
	}
	return h
}

// conditions of requests that change something.
var conditions = []string{"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"}

// unheeded refuses what the operation would not heed.
func (h heeds) unheeded(r *http.Request) error {
	if err := h.query(r.URL.RawQuery); err != nil {
		return err
	}
	for _, name := range conditions {
		given := r.Header.Get(name)
		if given != "" && r.Method != http.MethodGet && r.Method != http.MethodHead && !slices.Contains(h.headers, name) {
			return &job.Error{Code: job.CodeInvalid, Field: name, Value: job.Shorten(given), Bound: "not with this operation",
				Message: "nothing would look at the condition", Fix: "leave it out, or read the job and decide"}
		}
	}
	if h.body || r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	begin, _ := io.ReadAll(io.LimitReader(r.Body, 64)) // what cannot be read is not there
	if text := bytes.TrimSpace(begin); len(text) > 0 && !bytes.Equal(text, []byte("{}")) && !bytes.Equal(text, []byte("null")) {
		return &job.Error{Code: job.CodeInvalid, Field: "body", Value: job.Shorten(string(text)), Bound: "no body",
			Message: "nothing would read the body", Fix: "send it without; what can be chosen stands in the query, see /v1/openapi.yaml"}
	}
	return nil
}

func (h heeds) query(raw string) error {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return &job.Error{Code: job.CodeInvalid, Field: "query", Value: job.Shorten(raw), Bound: "name=value, joined by &", Message: "the query cannot be read", Fix: "escape it as URLs have it"}
	}
	for name, list := range values {
		switch {
		case slices.Contains(list, "") && name != "cursor": // the first page has none
			return &job.Error{Code: job.CodeInvalid, Field: job.Shorten(name), Bound: "a value", Message: job.Shorten(name) + " is empty", Fix: "give it a value, or leave it out"}
		case len(list) > 1 && !slices.Contains(h.lists, name):
			return &job.Error{Code: job.CodeInvalid, Field: job.Shorten(name), Value: job.Shorten(list[1]), Bound: "once", Message: job.Shorten(name) + " is given twice", Fix: "give it once"}
		}
	}
	return nil
}

// notJSON is the refusal of a body by the type that it is said to have.
func notJSON(method, given, media string) error {
	fault := client.Fault{Code: job.CodeInvalid, Field: "Content-Type", Value: job.Shorten(given), Bound: "application/json",
		Detail: "the body is not said to be JSON", Fix: "send JSON with the header Content-Type: application/json"}
	if method == http.MethodPatch {
		fault.Bound = mergePatch + ", application/json"
		if media == "application/json-patch+json" {
			fault.Detail, fault.Fix = "a JSON Patch (RFC 6902) is not taken", `send a merge patch (RFC 7396), only what changes, such as {"timeout":"5m"}`
		}
	}
	return statusError{http.StatusUnsupportedMediaType, fault}
}
