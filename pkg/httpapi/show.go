package httpapi

import (
	"cmp"
	"context"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// showJob is a head as people read it. A schedule that cannot be evaluated has no
// next time; nor is the cursor one, which lies beyond what has been made ahead.
func (a *api) showJob(ctx context.Context, h *job.Head) client.Job {
	now := a.control.Clock.Now()
	var next time.Time
	if h.StateAt(now) == job.Enabled {
		if course, err := a.control.CourseOf(ctx, h); err == nil {
			next, _ = course.Next(now)
		}
	}
	cursor := h.NextFireAt
	if h.Gap != nil {
		// Until the gap is recorded the cursor only keeps the job in sight of the scan.
		cursor = h.Gap.Then
	}
	switchAt := h.SwitchAt
	if now.Before(h.SwitchedAt) {
		switchAt = h.SwitchedAt
	}
	return client.Job{
		Job: h.Job, State: h.StateAt(now), Revision: h.Revision, Epoch: h.Epoch, Pool: h.Pool, Schedule: h.Schedule,
		NextFireAt: client.At(next), CursorAt: client.At(cursor), LastScheduledAt: client.At(h.LastScheduled), CreatedAt: client.At(h.CreatedAt), UpdatedAt: client.At(h.UpdatedAt), SwitchAt: client.At(switchAt),
		ChangedBy: client.Text(h.ChangedBy), Reason: client.Text(h.Reason), ReasonText: client.Text(lifecycle.Sentence(h.Reason)),
	}
}

func (a *api) showPut(ctx context.Context, r control.PutResult, written job.Definition, dryRun bool) client.PutResult {
	next := client.At(r.Next)
	if r.Action == control.Unchanged {
		next = a.showJob(ctx, r.Head).NextFireAt
	}
	return client.PutResult{Action: string(r.Action), DryRun: dryRun, Job: r.Head.Job, State: r.Head.StateAt(a.control.Clock.Now()), Revision: r.Head.Revision, NextFireAt: next,
		SwitchAt: client.At(r.Head.SwitchAt), TakenBackAt: client.At(r.TakenBack), Appear: showTimes(r.Appear), Vanish: showTimes(r.Vanish), Warnings: append(showWarnings(written.Schedule), bracesStay(written)...)}
}

// bracesStay warns of templates that the job does not ask to be filled in.
func bracesStay(written job.Definition) []client.Warning {
	field, what := written.BracesStay()
	if field == "" {
		return nil
	}
	message, fix := job.BracesMessage(field, what)
	return []client.Warning{{Code: job.CodeBracesStay, Field: field, Message: message, Fix: fix}}
}

func showWarnings(written job.Schedule) []client.Warning {
	shown := []client.Warning{}
	for _, w := range schedule.Lint(written) {
		shown = append(shown, client.Warning(w))
	}
	return shown
}

func showTimes(list []time.Time) []client.Time {
	shown := make([]client.Time, len(list))
	for i, t := range list {
		shown[i] = client.At(t)
	}
	return shown
}

// showFires is a preview as people read it. written is the schedule before
// defaults were filled in.
func showFires(p *schedule.Plan, description string, written job.Schedule, fires []schedule.Fire, asked int) client.Fires {
	compiled := p.Schedule()
	shown := client.Fires{Items: make([]client.Fire, len(fires)), Exhausted: len(fires) < asked, Description: description, Zone: p.Location().String(),
		Gap: compiled.Gap, Overlap: compiled.Overlap, Warnings: showWarnings(written)}
	for i, f := range fires {
		shown.Items[i] = client.Fire{At: client.At(f.At), Local: f.Local + " " + f.Offset, Note: client.Text(f.Mark)}
	}
	return shown
}

var kindWords = map[job.Kind]string{job.KindScheduled: "scheduled", job.KindManual: "manual", job.KindReplay: "replay", job.KindRange: "range", job.KindChild: "child", job.KindReduce: "reduce"}

// showExecution is an execution as people read it. now decides whether it is
// ready.
func showExecution(e *job.Execution, now time.Time) client.Execution {
	shown := client.Execution{
		ID: e.ID(), Job: e.Job, Kind: kindWords[e.Kind], ScheduledAt: client.At(e.ScheduledAt), CoversFrom: client.At(e.Covers), Status: e.Status, Ready: ready(e, now),
		Attempt: e.Attempt, Lost: e.Lost, Revision: e.Revision, Pool: e.Pool, Type: client.Text(e.Type), Target: client.Text(e.Target),
		CreatedAt: client.At(e.CreatedAt), AvailableAt: client.At(e.AvailableAt), StartedAt: client.At(e.StartedAt), FinishedAt: client.At(e.FinishedAt),
		FencingToken: token(e.Attempt, e.FencingToken), Reason: client.Text(e.Reason), ReasonText: client.Text(lifecycle.Sentence(e.Reason)),
		ErrorCode: client.Text(e.ErrorCode), ErrorText: client.Text(e.ErrorText), ReplayOf: client.Text(cmp.Or(e.ReplayedFrom, e.ReplayOf)), Actor: client.Text(e.Actor),
		Backfill: client.Text(e.Backfill), ReplayedBy: append([]string{}, e.ReplayedBy...), Resolution: showVerdict(e.Resolution), Review: showVerdict(e.Review),
	}
	shown.PayloadRef, shown.PayloadSum = client.Text(e.PayloadRef), client.Text(e.PayloadSum)
	if e.ReplayedFrom != "" {
		shown.Origin = client.Text(e.ReplayOf)
	}
	if e.Slot > 0 {
		shown.DueAt = client.At(e.DueAt())
	}
	if e.Status == job.Running {
		shown.Owner, shown.LeaseUntil = client.Text(e.Lease.Owner), client.At(e.Lease.Until)
	}
	if e.Cancel != nil {
		shown.Cancel = &client.Cancel{At: client.At(e.Cancel.At), By: e.Cancel.By, Declined: e.Cancel.Declined}
	}
	if e.Range != nil {
		shown.Range = &client.Range{From: client.At(e.Range.From), To: client.At(e.Range.To), Count: e.Range.Count}
	}
	return shown
}

// showFanOut is what is known of an execution's children.
func showFanOut(f *job.FanOut) *client.FanOut {
	if f == nil {
		return nil
	}
	shown := &client.FanOut{Children: f.Total, Failed: f.Failed, MayFail: f.MaxFailed, Made: f.Complete(), Ended: f.Complete() && f.OpenPages == 0,
		Handler: f.Handler, Reduce: client.Text(f.Reduce)}
	if f.Reduce != "" {
		shown.ReduceID = client.Text(job.ID(f.Job, job.ReduceKey(f.Parent), f.Revision))
	}
	if f.Canceled != nil {
		shown.CanceledBy = client.Text(f.Canceled.By)
	}
	return shown
}

func ready(e *job.Execution, now time.Time) bool {
	return (e.Status == job.Scheduled || e.Status == job.RetryWait) && !e.AvailableAt.After(now)
}

// token is null until a worker has claimed: before that nobody holds one.
func token(attempt int, value int64) *int64 {
	if attempt == 0 {
		return nil
	}
	return &value
}

// showTimeline adds the view READY: after SCHEDULED once the scheduled time had
// come, and after a wait for a retry that is over now.
func showTimeline(v *control.ExecutionView, now time.Time) []client.Entry {
	e := &v.Execution
	shown := make([]client.Entry, 0, len(v.Timeline)+1)
	for i, entry := range v.Timeline {
		shown = append(shown, client.Entry{At: client.At(entry.At), Status: string(entry.To), Attempt: entry.Attempt, FencingToken: token(entry.Attempt, entry.Token),
			Reason: client.Text(entry.Reason), ReasonText: client.Text(lifecycle.Sentence(entry.Reason)), Actor: client.Text(entry.Actor), ErrorCode: client.Text(entry.ErrorCode)})
		until := now
		last := i == len(v.Timeline)-1
		if !last {
			until = v.Timeline[i+1].At
		}
		var at time.Time
		switch {
		case entry.To == job.Scheduled:
			at = e.DueAt()
		case entry.To == job.RetryWait && last:
			at = e.AvailableAt
		default:
			continue
		}
		if at.Before(entry.At) {
			at = entry.At
		}
		if !at.After(until) {
			shown = append(shown, client.Entry{At: client.At(at), Status: "READY", Attempt: entry.Attempt, FencingToken: token(entry.Attempt, entry.Token)})
		}
	}
	return shown
}
