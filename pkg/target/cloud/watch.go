package cloud

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

const (
	// The pause between two looks at a task is a tenth of the time that it has been
	// watched: a short task is heard of soon, and a long one costs few calls.
	leastPause, mostPause = time.Second, 30 * time.Second
	// unseenFor is how long ECS may not know a task that it has started.
	unseenFor = time.Minute
	// stopFor is how long stopping a task may take: the plane gives a handler five
	// seconds after its context has ended.
	stopFor = 4 * time.Second
	// ours begins the reason of a task that was stopped here.
	ours = "Belfry: "
)

// memory is what attempts tell each other of the execution's task.
type memory struct {
	Execution string `json:"execution"` // a replay loads what it repeats, whose task is not its own
	Count     int    `json:"count"`     // of tasks that have ended
	Task      string `json:"task,omitempty"`
}

// watch runs a task to its end. The task belongs to the execution: an attempt that
// takes over finds it by the checkpoint, or, where its predecessor died before it
// saved one, by who started it (while it runs) and by the token of its start.
type watch struct {
	a       *Account
	attempt *worker.Attempt
	target  *job.ECSTarget
	memory  memory
}

func (w *watch) run(ctx context.Context) error {
	var m memory
	if _, err := w.attempt.Load(ctx, &m); err != nil && job.CodeOf(err) != job.CodeNotSupported {
		return err
	}
	if w.memory = (memory{Execution: w.attempt.ExecutionID()}); m.Execution == w.memory.Execution {
		w.memory = m
	}
	for {
		found := w.memory.Task != ""
		if !found {
			var err error
			if found, err = w.begin(ctx); err != nil {
				return w.leave(ctx, err)
			}
		}
		task, err := w.ended(ctx)
		if err != nil {
			return w.leave(ctx, err)
		}
		stopped := strings.HasPrefix(aws.ToString(task.StoppedReason), ours)
		if err = verdict(w.target, task); err == nil {
			return nil
		}
		w.memory.Count, w.memory.Task = w.memory.Count+1, ""
		if err := w.save(ctx); err != nil {
			return w.leave(ctx, err)
		}
		if !found || !stopped {
			return err
		}
		// An earlier attempt stopped it at its deadline, which is told already.
	}
}

// begin finds the task that an earlier attempt started, or starts one.
func (w *watch) begin(ctx context.Context) (found bool, err error) {
	if w.attempt.Number() > 1 {
		arn, err := w.started(ctx)
		if err != nil {
			return false, w.a.failure(ctx, "ECS", err)
		}
		w.memory.Task = arn
	}
	if found = w.memory.Task != ""; !found {
		if w.memory.Task, err = w.a.startTask(ctx, w.attempt, w.target, w.memory.Count); err != nil {
			return false, err
		}
	}
	return found, w.save(ctx)
}

// started is the task under way that an earlier attempt started; empty = none.
func (w *watch) started(ctx context.Context) (arn string, err error) {
	by := w.a.starter(contractOf(w.attempt, ""), w.memory.Count)
	out, err := w.a.ecs().ListTasks(ctx, &ecs.ListTasksInput{Cluster: &w.target.Cluster, StartedBy: &by}, w.a.regionOfTask(w.target))
	if err != nil || len(out.TaskArns) == 0 {
		return "", err
	}
	return out.TaskArns[0], nil
}

// save tells the next attempt. Where it cannot, the task is found without.
func (w *watch) save(ctx context.Context) error {
	err := w.attempt.Save(ctx, w.memory)
	if errors.Is(err, worker.ErrLeaseLost) {
		return err
	}
	if err != nil && job.CodeOf(err) != job.CodeNotSupported {
		w.attempt.Log().WarnContext(ctx, "the task's ARN was not saved", slog.String("task_arn", w.memory.Task), slog.Any("error", err))
	}
	return nil
}

// ended waits for the task's end.
func (w *watch) ended(ctx context.Context) (types.Task, error) {
	begun := w.a.clock.Now()
	for {
		out, err := w.a.ecs().DescribeTasks(ctx, &ecs.DescribeTasksInput{Cluster: &w.target.Cluster, Tasks: []string{w.memory.Task}}, w.a.regionOfTask(w.target))
		now := w.a.clock.Now()
		switch {
		case ctx.Err() != nil:
			return types.Task{}, ctx.Err()
		case err != nil:
			err = w.a.failure(ctx, "ECS", err)
			if worker.FailureOf(err).Class == "permanent" {
				return types.Task{}, worker.Uncertain(fmt.Errorf("task %s was started and cannot be looked at: %w", w.memory.Task, err))
			}
			// Whatever passes, passes while the task goes on.
		case len(out.Tasks) == 0 && now.Sub(begun) >= unseenFor:
			return types.Task{}, worker.WithCode("ECS_TASK_GONE", worker.Uncertain(fmt.Errorf("ECS does not know task %s any more: how it ended is unknown", w.memory.Task)))
		case len(out.Tasks) > 0 && aws.ToString(out.Tasks[0].LastStatus) == "STOPPED":
			return out.Tasks[0], nil
		}
		if err := w.a.clock.Wait(ctx, now.Add(min(max(now.Sub(begun)/10, leastPause), mostPause))); err != nil {
			return types.Task{}, err
		}
	}
}

// leave is the end of an attempt before its task's. A worker that stops, or that
// has lost the lease, leaves the task to the next attempt.
func (w *watch) leave(ctx context.Context, err error) error {
	why := context.Cause(ctx)
	switch {
	case ctx.Err() == nil || errors.Is(why, worker.ErrLeaseLost):
		return err
	case errors.Is(why, worker.ErrDeadline), errors.Is(why, context.DeadlineExceeded):
		why = errors.New("the attempt has reached its timeout")
	case errors.Is(why, worker.ErrCanceled):
		why = errors.New("the execution was canceled")
	default:
		w.attempt.Log().InfoContext(ctx, "the task goes on without its worker", slog.String("task_arn", w.memory.Task))
		return err
	}
	if failed := w.stop(ctx, ours+why.Error()); failed != nil {
		failed = fmt.Errorf("%w, and its task %s could not be stopped: %w", why, w.memory.Task, failed)
		if errors.Is(context.Cause(ctx), worker.ErrCanceled) {
			return worker.WithCode("ECS_NOT_STOPPED", worker.Uncertain(failed)) // a person looks after it
		}
		return failed // the next attempt finds it
	}
	return fmt.Errorf("%w: task %s was stopped", why, w.memory.Task)
}

// stop stops the task, though the attempt's context has ended.
func (w *watch) stop(ctx context.Context, reason string) error {
	ctx, end := context.WithTimeout(context.WithoutCancel(ctx), stopFor)
	defer end()
	for {
		err := w.stopOnce(ctx, reason)
		if err == nil || w.a.clock.Wait(ctx, w.a.clock.Now().Add(leastPause)) != nil {
			return err
		}
	}
}

func (w *watch) stopOnce(ctx context.Context, reason string) error {
	if w.memory.Task == "" { // the start's answer was not awaited
		arn, err := w.started(ctx)
		if err != nil || arn == "" {
			return err
		}
		w.memory.Task = arn
	}
	_, err := w.a.ecs().StopTask(ctx, &ecs.StopTaskInput{Cluster: &w.target.Cluster, Task: &w.memory.Task, Reason: &reason}, w.a.regionOfTask(w.target))
	return err
}
