package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// spreading is the payload of a job that fans out.
type spreading struct {
	Receiver string `json:"receiver"` // told what came of it
	Children int    `json:"children"`
	Hopeless int    `json:"hopeless"` // the child that fails for good
	Twice    int    `json:"twice"`    // each child whose number this divides needs a second attempt
}

// part is the payload of a child.
type part struct {
	spreading
	Number int `json:"number"`
}

// spread hands the numbers out.
func spread(ctx context.Context, a *worker.Attempt, s spreading) error {
	children := make([]worker.Child, s.Children)
	for i := range children {
		children[i].Payload = part{spreading: s, Number: i}
	}
	return a.FanOut(ctx, children, worker.FanOut{Handler: "square", Reduce: "gather", MaxFailed: 1,
		Retry: &job.Retry{MaxAttempts: 2, Base: job.Duration(1e9)}})
}

// square saves its number's square as its result.
func square(ctx context.Context, a *worker.Attempt, p part) error {
	switch n, _ := a.ChildNumber(); {
	case n != p.Number:
		return worker.Permanent(fmt.Errorf("child %d was handed the payload of %d", n, p.Number))
	case n == p.Hopeless:
		return worker.WithCode("HOPELESS", worker.Permanent(errors.New("as the payload says")))
	case n%p.Twice == 0 && a.Number() == 1:
		return errors.New("as the payload says")
	}
	return a.Save(ctx, p.Number*p.Number)
}

// gathered is what the receiver is told in the end.
type gathered struct {
	Children int    `json:"children"`
	Failed   int    `json:"failed"`
	Seen     int    `json:"seen"` // children that were there to be read
	Sum      int    `json:"sum"`  // of their results
	Missing  []int  `json:"missing"`
	Code     string `json:"code"` // of what failed
}

// gather adds up the results and tells the receiver.
func gather(ctx context.Context, a *worker.Attempt, s spreading) error {
	family, err := a.Outcome()
	if err != nil {
		return err
	}
	g := gathered{Children: family.Children, Failed: family.Failed}
	for child, err := range a.Children(ctx) {
		if err != nil {
			return err
		}
		var result int
		found, err := child.Load(ctx, &result)
		if err != nil {
			return err
		}
		g.Seen++
		g.Sum += result
		if !found {
			g.Missing, g.Code = append(g.Missing, child.Number), child.ErrorCode
		}
	}
	return tell(ctx, a, s.Receiver+"/steady", g)
}
