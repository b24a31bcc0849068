package control

import (
	"context"
	"fmt"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// cancelChildren is the cancel of an execution that has ended well, whose children
// have not all ended: nothing else of it goes on.
func (s *Service) cancelChildren(ctx context.Context, e *job.Execution, c job.Cancel) (*job.Execution, error) {
	f, err := s.Families.FanOut(ctx, e.Ref, e.Key)
	if err != nil {
		return nil, err
	}
	if f == nil || f.OpenPages == 0 {
		return nil, notWaiting(e, "canceled", fixes{e.Status: "it has ended, and so have all of its children"})
	}
	if _, err := s.Families.EndChildren(ctx, e.Ref, e.Key, c); err != nil {
		return nil, err
	}
	return e, nil
}

// Children are the children of an execution on one page, and the page after it; zero
// after the last one.
func (s *Service) Children(ctx context.Context, ref job.Ref, parent job.Key, page int) (children []job.Execution, next int, err error) {
	e, err := s.Executions.Execution(ctx, ref, parent)
	if err != nil {
		return nil, 0, err
	}
	if e == nil {
		return nil, 0, executionNotFound(ref, parent)
	}
	f, err := s.Families.FanOut(ctx, ref, parent)
	if err != nil || f == nil {
		return nil, 0, err
	}
	if page < 0 || page > 0 && page >= f.Pages() {
		return nil, 0, &job.Error{Code: job.CodeInvalid, Field: "cursor", Value: fmt.Sprint(page), Bound: fmt.Sprintf("0 to %d", max(f.Pages()-1, 0)),
			Message: fmt.Sprintf("the execution has no page %d of children", page), Fix: "begin without a cursor"}
	}
	children, err = s.Families.Children(ctx, ref, parent, page)
	if page+1 < f.Pages() {
		next = page + 1
	}
	return children, next, err
}
