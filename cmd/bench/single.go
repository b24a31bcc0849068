package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// single measures what happens to one job or one execution at a time.
type single struct {
	*town
	to *report
}

// steps are measured in this order; each leaves nothing waiting behind.
func (s *single) steps() []func(context.Context) error {
	return []func(context.Context) error{s.verbs, s.oneOff, s.manual, s.retry, s.late}
}

// verbs measures what control verbs write for a job without executions.
func (s *single) verbs(ctx context.Context) error {
	hourly := job.Definition{Schedule: job.Schedule{Every: job.Duration(time.Hour)}}
	ref := job.Ref{Tenant: job.DefaultTenant, Job: "billing-report-verbs"}
	const who = "ada@example.com"
	for _, verb := range []struct {
		row string
		do  func() error
	}{
		{"create_wru", func() error { return s.put(ctx, ref.Job, hourly) }},
		{"edit_wru", func() error {
			return s.put(ctx, ref.Job, job.Definition{Schedule: job.Schedule{Every: job.Duration(2 * time.Hour)}})
		}},
		{"pause_wru", func() error { _, err := s.Control.Pause(ctx, ref, who); return err }},
		{"resume_wru", func() error { _, err := s.Control.Resume(ctx, ref, who, ""); return err }},
		{"delete_wru", func() error { _, err := s.Control.Delete(ctx, ref, who, 0); return err }},
	} {
		s.forget()
		if err := verb.do(); err != nil {
			return fmt.Errorf("%s: %w", verb.row, err)
		}
		_, writes, tables, err := s.spent()
		if err != nil {
			return err
		}
		s.to.note(verb.row, writes.sum(), tables["change head"])
	}
	return nil
}

// carry has one message carried through by a fresh worker.
func (s *single) carry(ctx context.Context) error {
	work, err := s.worker()
	if err != nil {
		return err
	}
	return s.work(ctx, work, 1)
}

// oneOff measures a job with one time, from its first write. Its price counts
// head, due entry and revision once; the whole bill has what the verb's
// transaction, its audit entry and the list of jobs cost too.
func (s *single) oneOff(ctx context.Context) error {
	s.forget()
	at := s.clock.Now().Add(period)
	if err := s.put(ctx, "billing-report-once", job.Definition{Schedule: job.Schedule{At: at}}); err != nil {
		return err
	}
	s.clock.set(at)
	if err := errors.Join(s.scan(ctx), s.carry(ctx)); err != nil {
		return err
	}
	_, writes, tables, err := s.spent()
	s.to.sum("oneoff_bill_wru", writes)
	names := s.Store.Tables()
	created := tables["change head"]
	plain := parts{}
	for operation, units := range writes {
		if operation != "change head" {
			plain[operation] = units
		}
	}
	const twice = 2 // a transaction costs twice the units of its writes
	plain["head and revision"] = created[names.Jobs] / twice
	plain["due entry"] = created[names.Jobs+"/due"] / twice
	s.to.sum("oneoff_wru", plain)
	return err
}

// recurringJob makes a job that a scan finds when the clock is set to its next
// time, and returns that time.
func (s *single) recurringJob(ctx context.Context, name string) (time.Time, error) {
	now := s.clock.Now()
	err := s.put(ctx, name, job.Definition{Schedule: job.Schedule{Every: job.Duration(period)}})
	return now.Add(period), err
}

// dismiss deletes a job, so that it does not fall due in the next measurement.
func (s *single) dismiss(ctx context.Context, name string) error {
	_, err := s.Control.Delete(ctx, job.Ref{Tenant: job.DefaultTenant, Job: name}, "ada@example.com", 0)
	return err
}

func (s *single) manual(ctx context.Context) error {
	const name = "billing-report-manual"
	if _, err := s.recurringJob(ctx, name); err != nil {
		return err
	}
	s.forget()
	if _, err := s.Control.RunNow(ctx, control.RunRequest{Ref: job.Ref{Tenant: job.DefaultTenant, Job: name}, Actor: "ada@example.com"}); err != nil {
		return err
	}
	if err := s.carry(ctx); err != nil {
		return err
	}
	_, writes, _, err := s.spent()
	s.to.sum("manual_wru", writes)
	return errors.Join(err, s.dismiss(ctx, name))
}

// retry measures what an attempt adds that fails before the one that succeeds.
func (s *single) retry(ctx context.Context) error {
	const name = "billing-report-retry"
	at, err := s.recurringJob(ctx, name)
	if err != nil {
		return err
	}
	s.clock.set(at)
	work, err := s.worker()
	if err != nil {
		return err
	}
	if err := s.scan(ctx); err != nil {
		return err
	}
	s.forget()
	s.failing.Store(true)
	queue := s.Queues.Names.Work(job.DefaultPool)
	b, err := s.invoke(ctx, queue, work)
	s.failing.Store(false)
	if err != nil {
		return err
	}
	if len(b.kept) != 1 {
		return fmt.Errorf("%d messages of the failed attempt stayed, not one", len(b.kept))
	}
	// The queue's clock runs by itself; the message comes back at once instead.
	url, err := s.url(ctx, queue)
	if err != nil {
		return err
	}
	if _, err := s.clients.SQS.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: &url, ReceiptHandle: b.kept[0].ReceiptHandle}); err != nil {
		return err
	}
	_, writes, _, err := s.spent()
	s.to.sum("retry_wru", writes)
	s.clock.set(s.clock.Now().Add(10 * time.Second))
	return errors.Join(err, s.work(ctx, work, 1), s.dismiss(ctx, name))
}

// late measures a job that nobody scanned while four of its times passed.
func (s *single) late(ctx context.Context) error {
	const name = "billing-report-late"
	at, err := s.recurringJob(ctx, name)
	if err != nil {
		return err
	}
	s.forget()
	s.clock.set(at.Add(3*period + 90*time.Second))
	if err := errors.Join(s.scan(ctx), s.carry(ctx)); err != nil {
		return err
	}
	_, writes, _, err := s.spent()
	s.to.sum("late_wru", writes)
	return errors.Join(err, s.dismiss(ctx, name))
}

// putWordy makes a job whose head has every field that people usually set.
func (s *single) putWordy(ctx context.Context) error {
	d := job.Definition{Schedule: job.Schedule{Cron: "30 3 * * MON-FRI", Zone: "America/Argentina/Buenos_Aires", Gap: job.GapShiftForward,
		Overlap: job.OverlapFirst, Start: begin, End: begin.AddDate(1, 0, 0)},
		Pool: "external-api", Description: "settles yesterday's invoices with the bank", Labels: map[string]string{"team": "billing"}}
	ref := job.Ref{Tenant: job.DefaultTenant, Job: "billing-settlement-with-a-long-name"}
	d.Target = job.Target{Webhook: &job.Webhook{URL: "https://billing.example.com/hooks/settle"}}
	_, err := s.Control.Put(ctx, control.PutRequest{Ref: ref, Definition: d, Actor: "ada@example.com"})
	return err
}
