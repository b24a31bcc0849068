package cloud

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/target/internal/answer"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// CodeTaskNoExit is the failure of a task that stopped without an exit code of each
// container that the job names.
const CodeTaskNoExit = "ECS_NO_EXIT_CODE"

// verdict is what a stopped task means. It went well only where each container that
// the job names says so by its exit code, and where nobody else ended the task: a
// container that is told to stop may end with 0 before its work is done.
func verdict(t *job.ECSTarget, task types.Task) error {
	reason := answer.Printable([]byte(aws.ToString(task.StoppedReason)))
	failed := func(code, text string) error {
		if reason != "" {
			text += ": " + reason
		}
		return worker.WithCode(code, worker.Retry(fmt.Errorf("task %s: %s", aws.ToString(task.TaskArn), text)))
	}
	switch {
	case task.StopCode == types.TaskStopCodeTaskFailedToStart && strings.Contains(strings.ToUpper(reason), "CAPACITY"):
		return failed(CodeTaskNoCapacity, "it found no room")
	case task.StopCode == types.TaskStopCodeTaskFailedToStart:
		return failed("ECS_TASK_FAILED_TO_START", "it never started")
	case task.StopCode != "" && task.StopCode != types.TaskStopCodeEssentialContainerExited:
		return failed(word("ECS", string(task.StopCode)), "it was stopped before its end")
	case strings.HasPrefix(reason, ours):
		return failed("ECS_USER_INITIATED", "it was stopped before its end")
	}
	for _, named := range t.Containers {
		exit, why := exitOf(task, named.Name)
		switch {
		case exit == nil:
			return failed(CodeTaskNoExit, "container "+named.Name+" has no exit code"+why)
		case *exit != 0:
			return failed(fmt.Sprintf("ECS_EXIT_%d", *exit), fmt.Sprintf("container %s ended with exit code %d%s", named.Name, *exit, why))
		}
	}
	return nil
}

// exitOf is how a container ended, and what ECS says of it.
func exitOf(task types.Task, name string) (exit *int32, why string) {
	for _, c := range task.Containers {
		if aws.ToString(c.Name) == name {
			if said := answer.Printable([]byte(aws.ToString(c.Reason))); said != "" {
				why = " (" + said + ")"
			}
			return c.ExitCode, why
		}
	}
	return nil, ""
}
