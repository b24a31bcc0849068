package httpapi

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// RequestIDHeader carries the id under which the service's log knows a request.
const RequestIDHeader = "Belfry-Request-Id"

// shell is what every request passes before and after its operation.
func (a *api) shell() http.Handler {
	guard := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := a.newRequestID()
		w.Header().Set(RequestIDHeader, id)
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		r = r.WithContext(context.WithValue(r.Context(), requestKey, id))
		tracked := &trackedWriter{ResponseWriter: w}
		defer a.recovered(tracked, r)
		if err := a.admit(guard, r); err != nil {
			a.writeRefusal(tracked, r, err)
			return
		}
		caller, err := a.options.Identify(r)
		if err != nil {
			a.writeRefusal(tracked, r, err)
			return
		}
		a.route(tracked, r.WithContext(context.WithValue(r.Context(), callerKey, caller)))
	})
}

// newRequestID draws 8 bytes. Without entropy requests still are served, under
// an id that says so.
func (a *api) newRequestID() string {
	var raw [8]byte
	a.entropy.Lock()
	defer a.entropy.Unlock()
	if a.options.Entropy == nil {
		return "unnamed"
	}
	if _, err := io.ReadFull(a.options.Entropy, raw[:]); err != nil {
		return "unnamed"
	}
	return hex.EncodeToString(raw[:])
}

// admit refuses what must not even be identified: another host's name, a
// request that a foreign web page made, a body that is not JSON.
func (a *api) admit(guard *http.CrossOriginProtection, r *http.Request) error {
	if !a.hostAllowed(r.Host) {
		return statusError{http.StatusMisdirectedRequest, client.Fault{Code: job.CodeInvalid, Field: "Host", Value: job.Shorten(r.Host), Bound: strings.Join(a.options.Hosts, ", "),
			Detail: "this service does not answer under that name", Fix: "use one of the names that it answers under"}}
	}
	if err := guard.Check(r); err != nil {
		return statusError{http.StatusForbidden, client.Fault{Code: job.CodeInvalid, Field: "Origin", Value: job.Shorten(r.Header.Get("Origin")),
			Detail: "the request comes from a web page of another origin", Fix: "call the API from a program, or from a page that the service itself serves"}}
	}
	if r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	given := r.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(given)
	if given != "" && (err != nil || media != "application/json" && (r.Method != http.MethodPatch || media != mergePatch)) {
		return notJSON(r.Method, given, media)
	}
	return nil
}

func (a *api) hostAllowed(host string) bool {
	if len(a.options.Hosts) == 0 {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return slices.Contains(a.options.Hosts, strings.ToLower(strings.Trim(host, "[]")))
}

// route hands the request to its operation. What no operation takes would be
// answered as plain text; it gets the same status as a problem.
func (a *api) route(w http.ResponseWriter, r *http.Request) {
	fallback, pattern := a.mux.Handler(r)
	if pattern != "" {
		if h, known := a.heeds[pattern]; known {
			if err := h.unheeded(r); err != nil {
				a.writeRefusal(w, r, err)
				return
			}
		}
		a.mux.ServeHTTP(w, r)
		return
	}
	plain := &statusOnly{header: http.Header{}}
	fallback.ServeHTTP(plain, r)
	if allowed := plain.header.Get("Allow"); plain.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", allowed)
		a.writeRefusal(w, r, statusError{plain.status, client.Fault{Code: job.CodeInvalid, Field: "method", Value: job.Shorten(r.Method), Bound: allowed,
			Detail: "the method " + job.Shorten(r.Method) + " means nothing at " + job.Shorten(r.URL.Path), Fix: "use one of: " + allowed}})
		return
	}
	a.writeRefusal(w, r, statusError{http.StatusNotFound, client.Fault{Code: job.CodeNotFound, Field: "path", Value: job.Shorten(r.URL.Path),
		Detail: "there is nothing at " + job.Shorten(r.URL.Path), Fix: "see the description at /v1/openapi.yaml"}})
}

// statusOnly takes an answer and keeps its status and headers.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header            { return s.header }
func (s *statusOnly) Write(data []byte) (int, error) { return len(data), nil }
func (s *statusOnly) WriteHeader(status int)         { s.status = status }

// statusError is a refusal whose status says more than its code.
type statusError struct {
	status int
	fault  client.Fault
}

// Error is the fault's sentence.
func (e statusError) Error() string { return e.fault.Detail }

func (a *api) writeRefusal(w http.ResponseWriter, r *http.Request, err error) {
	var p *Problem
	var e statusError
	if errors.As(err, &e) {
		p = newProblem(e.status, requestID(r.Context()), e.fault)
	} else {
		p = a.refusal(r.Context(), err)
	}
	for name, values := range p.GetHeaders() {
		w.Header()[name] = values
	}
	body, err := json.Marshal(p.Problem)
	if err != nil {
		body = []byte("{}")
	}
	w.Header().Set("Content-Type", p.ContentType(""))
	w.WriteHeader(p.Status)
	_, _ = w.Write(append(body, '\n'))
}

// recovered turns a panic into a problem, unless an answer has begun.
func (a *api) recovered(w *trackedWriter, r *http.Request) {
	what := recover()
	if what == nil {
		return
	}
	if err, isError := what.(error); isError && errors.Is(err, http.ErrAbortHandler) {
		panic(what)
	}
	id := requestID(r.Context())
	a.options.Logger.ErrorContext(r.Context(), "request panicked", "request", id, "panic", fmt.Sprint(what))
	if w.begun {
		panic(http.ErrAbortHandler)
	}
	a.writeRefusal(w, r, statusError{http.StatusInternalServerError, internalFault(id)})
}

// trackedWriter knows whether an answer has begun.
type trackedWriter struct {
	http.ResponseWriter
	begun bool
}

func (w *trackedWriter) WriteHeader(status int) {
	w.begun = true
	w.ResponseWriter.WriteHeader(status)
}

func (w *trackedWriter) Write(data []byte) (int, error) {
	w.begun = true
	return w.ResponseWriter.Write(data)
}

// Unwrap gives http.ResponseController the writer below.
func (w *trackedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
