package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Problem is a refusal as the framework and the wire know it.
type Problem struct {
	client.Problem
	retryAfter int // seconds; 0 = no header
}

// Error is the problem's sentence.
func (p *Problem) Error() string { return p.Detail }

// GetStatus is the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType is that of a problem, whatever was asked for.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// GetHeaders tells when the same call may succeed.
func (p *Problem) GetHeaders() http.Header {
	if p.retryAfter == 0 {
		return nil
	}
	return http.Header{"Retry-After": {strconv.Itoa(p.retryAfter)}}
}

// faults are several things wrong with one request.
type faults []*job.Error

// Error tells the first one.
func (f faults) Error() string { return f[0].Error() }

// The framework asks package variables how to make its errors; they are set
// before anything can run, and are the same for every API in the process.
func init() {
	huma.ValidateStrictCasing = true
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		return frameworkProblem(status, message, errs, "")
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, message string, errs ...error) huma.StatusError {
		return frameworkProblem(status, message, errs, requestID(ctx.Context()))
	}
}

func newProblem(status int, id string, list ...client.Fault) *Problem {
	p := &Problem{Problem: client.Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Fault: list[0], RequestID: id}}
	if len(list) > 1 {
		p.Errors = list
	}
	return p
}

// refusal turns what a verb returned into a problem. What no *job.Error
// explains is a fault of ours: it is logged in full and shown as nothing but
// the request's id.
func (a *api) refusal(ctx context.Context, err error) *Problem {
	id := requestID(ctx)
	var several faults
	if errors.As(err, &several) {
		list := make([]client.Fault, len(several))
		for i, e := range several {
			list[i] = client.FaultOf(e)
		}
		return newProblem(statusOf(several[0].Code), id, list...)
	}
	var e *job.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		e = &job.Error{Code: job.CodeUnavailable, Message: "the request was given up before it was done", Fix: "try again"}
	case !errors.As(err, &e) || e.Code.Class() == job.ClassBroken:
		a.options.Logger.ErrorContext(ctx, "request failed", "request", id, "error", err)
		return newProblem(http.StatusInternalServerError, id, internalFault(id))
	}
	p := newProblem(statusOf(e.Code), id, client.FaultOf(e))
	if e.Code.Class() == job.ClassBusy {
		a.options.Logger.WarnContext(ctx, "request put off", "request", id, "error", err)
		p.retryAfter = 1
	}
	return p
}

func internalFault(id string) client.Fault {
	return client.Fault{Code: job.CodeInternal, Detail: "the service failed to answer this request", Fix: "look for request " + id + " in the service's log"}
}

// statusOf is the HTTP status of a code.
func statusOf(code job.Code) int {
	if code == job.CodeRevisionConflict || code == job.CodeAlreadyExists {
		return http.StatusPreconditionFailed
	}
	if code == job.CodeThrottled {
		return http.StatusTooManyRequests
	}
	switch code.Class() {
	case job.ClassRefused:
		return http.StatusUnprocessableEntity
	case job.ClassMissing:
		return http.StatusNotFound
	case job.ClassConflict:
		return http.StatusConflict
	case job.ClassBusy:
		return http.StatusServiceUnavailable
	case job.ClassBroken:
		return http.StatusInternalServerError
	}
	return http.StatusInternalServerError
}

// frameworkProblem words what the framework found wrong with a request.
func frameworkProblem(status int, message string, errs []error, id string) *Problem {
	var list []client.Fault
	for _, err := range errs {
		if err != nil {
			list = append(list, frameworkFault(err))
		}
	}
	switch {
	case status == http.StatusRequestEntityTooLarge:
		list = []client.Fault{{Code: job.CodeTooLarge, Field: "body", Bound: fmt.Sprintf("%d bytes", maxBody),
			Detail: "the request's body is too large", Fix: "shorten it, or store the data elsewhere and pass a reference to it"}}
	case status >= http.StatusInternalServerError:
		list = []client.Fault{internalFault(id)}
	case len(list) == 0:
		list = []client.Fault{{Code: job.CodeInvalid, Field: "body", Detail: message, Fix: "see the description at /v1/openapi.yaml"}}
	}
	return newProblem(status, id, list...)
}

func frameworkFault(err error) client.Fault {
	var known *job.Error
	if errors.As(err, &known) {
		return client.FaultOf(known)
	}
	var detail *huma.ErrorDetail
	if !errors.As(err, &detail) {
		return client.Fault{Code: job.CodeInvalid, Detail: err.Error(), Fix: "see the description at /v1/openapi.yaml"}
	}
	field := fieldOf(detail.Location)
	var missing string
	switch {
	case detail.Message == validation.MsgUnexpectedProperty || strings.HasPrefix(detail.Message, "unknown query"):
		return client.Fault{Code: job.CodeUnknownField, Field: field, Detail: fmt.Sprintf("%q is not known here", job.Shorten(field)),
			Fix: "remove it, or check its spelling against /v1/openapi.yaml"}
	case scanned(detail.Message, validation.MsgExpectedRequiredProperty, &missing):
		field = strings.TrimPrefix(field+"."+missing, "body.")
		return client.Fault{Code: job.CodeInvalid, Field: field, Detail: field + " is missing", Fix: "give it; see the description at /v1/openapi.yaml"}
	case field == "body":
		return client.Fault{Code: job.CodeInvalid, Field: field, Detail: detail.Message, Fix: "see the description at /v1/openapi.yaml"}
	}
	bound, _ := strings.CutPrefix(detail.Message, "expected ")
	if list, isList := strings.CutPrefix(bound, "value to be one of "); isList {
		bound = strings.Trim(list, `"`)
	}
	return client.Fault{Code: job.CodeInvalid, Field: field, Value: valueText(detail.Value), Bound: bound, Detail: detail.Message, Fix: "send what is expected, or leave it out; see the description at /v1/openapi.yaml"}
}

// scanned takes out of a message of the framework the one word that its format has
// a place for.
func scanned(message, format string, word *string) bool {
	before, after, _ := strings.Cut(format, "%s")
	rest, begins := strings.CutPrefix(message, before)
	inner, ends := strings.CutSuffix(rest, after)
	*word = inner
	return begins && ends
}

// fieldOf drops where in the request a field stood, unless that is all.
func fieldOf(location string) string {
	for _, where := range []string{"body.", "query.", "path.", "header."} {
		if rest, found := strings.CutPrefix(location, where); found {
			return rest
		}
	}
	return location
}

func valueText(value any) string {
	if text, ok := value.(string); ok {
		return job.Shorten(text)
	}
	text, err := json.Marshal(value)
	if err != nil || value == nil {
		return ""
	}
	return job.Shorten(string(text))
}
