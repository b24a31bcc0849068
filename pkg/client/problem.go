package client

import (
	"fmt"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Fault is one thing that is wrong with a request.
type Fault struct {
	Code   job.Code `json:"code" doc:"Stable name of the refusal"`
	Field  string   `json:"field,omitempty" doc:"Path of what was wrong, such as schedule.cron"`
	Value  string   `json:"value,omitempty" doc:"The value given, shortened"`
	Bound  string   `json:"bound,omitempty" doc:"The rule that it broke"`
	Detail string   `json:"detail" doc:"What is wrong, in a sentence"`
	Fix    string   `json:"fix,omitempty" doc:"What to do next, in a sentence"`
}

// Problem is the body of every refusal (RFC 9457). The fault that is told first
// stands in the problem itself; Errors lists all when there are several.
type Problem struct {
	Type   string `json:"type" doc:"Always about:blank: the code says more" example:"about:blank"`
	Title  string `json:"title" doc:"The HTTP status in words"`
	Status int    `json:"status" doc:"The HTTP status"`
	Fault
	RequestID string  `json:"request_id,omitempty" doc:"Names the request in the service's log"`
	Errors    []Fault `json:"errors,omitempty" doc:"Every fault, when there are several"`
}

// Err is the problem as the error that Go callers see.
func (p *Problem) Err() *job.Error {
	e := &job.Error{Code: p.Code, Field: p.Field, Value: p.Value, Bound: p.Bound, Message: p.Detail, Fix: p.Fix}
	if p.Code.Class() == job.ClassBroken && p.RequestID != "" {
		e.Message = fmt.Sprintf("%s (request %s)", e.Message, p.RequestID)
	}
	return e
}

// FaultOf is a refusal as it stands on the wire.
func FaultOf(e *job.Error) Fault {
	return Fault{Code: e.Code, Field: e.Field, Value: e.Value, Bound: e.Bound, Detail: e.Message, Fix: e.Fix}
}
