package cloud

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/target/internal/answer"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// Codes of a RunTask that was answered and started nothing.
const (
	CodeTaskNoCapacity = "ECS_NO_CAPACITY"     // there is no room at the moment
	CodeTaskNotStarted = "ECS_NOTHING_STARTED" // neither a task nor a reason
)

// run is the target ecs.
func (a *Account) run(ctx context.Context, attempt *worker.Attempt) error {
	target := attempt.Target().ECS
	if target == nil {
		return unusable("ECS")
	}
	if target.Wait && a.there {
		return (&watch{a: a, attempt: attempt, target: target}).run(ctx)
	}
	_, err := a.startTask(ctx, attempt, target, 0)
	return err
}

// startTask starts the task of an execution, and gives its ARN. Those of an
// execution that is waited for are counted: one that ended badly has a successor.
func (a *Account) startTask(ctx context.Context, attempt *worker.Attempt, target *job.ECSTarget, count int) (arn string, err error) {
	err = a.perform(ctx, attempt, call{"ECS", "RunTask", func(ctx context.Context, c contract) ([]slog.Attr, error) {
		out, err := a.ecs().RunTask(ctx, a.task(target, c, string(attempt.Payload()), count), a.regionOfTask(target))
		var conflict *types.ConflictException
		if errors.As(err, &conflict) && len(conflict.ResourceIds) > 0 {
			// An earlier attempt's token: its answer was lost, its task was started.
			arn = conflict.ResourceIds[0]
			return []slog.Attr{slog.String("task_arn", arn), slog.Bool("already", true)}, nil
		}
		if err != nil {
			return nil, taskRefusal(err)
		}
		if len(out.Tasks) == 0 {
			return nil, judged{taskFailure(out.Failures)}
		}
		arn = aws.ToString(out.Tasks[0].TaskArn)
		return []slog.Attr{slog.String("task_arn", arn)}, nil
	}})
	return arn, err
}

func (a *Account) regionOfTask(t *job.ECSTarget) func(*ecs.Options) {
	return func(o *ecs.Options) { in(regionOf(t.Cluster, t.TaskDefinition), &o.Region) }
}

// starter is by whom a task was started, by which it is found again.
func (a *Account) starter(c contract, count int) string {
	name := "belfry/" + notInStartedBy.ReplaceAllString(a.nameOf(c), "-")
	if count > 0 {
		name += "/" + strconv.Itoa(count)
	}
	return name
}

func (a *Account) taskToken(c contract, count int) string {
	token := "belfry-" + a.digestOf(c)[:40]
	if count > 0 {
		token += "-" + strconv.Itoa(count)
	}
	return token
}

// task is the call of a target. Its token is the execution's: however often the
// call is repeated, one task is started.
func (a *Account) task(t *job.ECSTarget, c contract, payload string, count int) *ecs.RunTaskInput {
	input := &ecs.RunTaskInput{Cluster: &t.Cluster, TaskDefinition: &t.TaskDefinition, Count: aws.Int32(1), LaunchType: types.LaunchType(t.LaunchType),
		ClientToken: aws.String(a.taskToken(c, count)), StartedBy: aws.String(a.starter(c, count)), Overrides: &types.TaskOverride{}}
	if t.PlatformVersion != "" {
		input.PlatformVersion = &t.PlatformVersion
	}
	for _, p := range t.CapacityProviders {
		input.CapacityProviderStrategy = append(input.CapacityProviderStrategy, types.CapacityProviderStrategyItem{CapacityProvider: &p.Name, Weight: int32(p.Weight), Base: int32(p.Base)})
	}
	if len(t.Subnets) > 0 {
		public := types.AssignPublicIpDisabled
		if t.PublicIP {
			public = types.AssignPublicIpEnabled
		}
		input.NetworkConfiguration = &types.NetworkConfiguration{AwsvpcConfiguration: &types.AwsVpcConfiguration{Subnets: t.Subnets, SecurityGroups: t.SecurityGroups, AssignPublicIp: public}}
	}
	for _, own := range t.Containers {
		told := types.ContainerOverride{Name: &own.Name, Command: own.Command}
		say := func(name, value string) {
			told.Environment = append(told.Environment, types.KeyValuePair{Name: &name, Value: &value})
		}
		for _, name := range slices.Sorted(maps.Keys(own.Environment)) {
			say(name, own.Environment[name])
		}
		for _, p := range c.variables() {
			say(p.name, p.value)
		}
		if payload != "" {
			say("BELFRY_PAYLOAD", payload)
		}
		input.Overrides.ContainerOverrides = append(input.Overrides.ContainerOverrides, told)
	}
	return input
}

var notInStartedBy = regexp.MustCompile(`[^a-zA-Z0-9/_-]`)

// room are the beginnings of reasons that pass when others end.
var room = []string{"RESOURCE", "CAPACITY", "CAPACITY IS UNAVAILABLE", "AGENT", "NO CONTAINER INSTANCES", "ATTRIBUTE", "LOCATION", "YOU'VE REACHED THE LIMIT"}

func isRoom(reason string) bool {
	reason = strings.ToUpper(reason)
	return slices.ContainsFunc(room, func(beginning string) bool { return strings.HasPrefix(reason, beginning) }) || strings.Contains(reason, "CAPACITY IS UNAVAILABLE")
}

// taskFailure is what it means that the call was answered well and started
// nothing.
func taskFailure(failures []types.Failure) error {
	if len(failures) == 0 {
		return worker.WithCode(CodeTaskNotStarted, worker.Retry(errors.New("ECS started no task and gave no reason")))
	}
	f := failures[0]
	reason := answer.Printable([]byte(aws.ToString(f.Reason)))
	err := fmt.Errorf("ECS started no task: %s %s", reason, answer.Printable([]byte(aws.ToString(f.Detail))))
	switch {
	case isRoom(reason):
		return worker.WithCode(CodeTaskNoCapacity, worker.Retry(err))
	case reason == "MISSING" || reason == "INACTIVE":
		return worker.WithCode(word("ECS", reason), worker.Permanent(err))
	}
	return worker.WithCode("ECS_FAILURE", worker.Retry(err))
}

// taskRefusal gives a class to refusals of RunTask that mean a lack of room:
// Fargate and a cluster without instances tell of it so.
func taskRefusal(err error) error {
	var refusal interface{ ErrorMessage() string }
	if errors.As(err, &refusal) && isRoom(refusal.ErrorMessage()) {
		return judged{worker.WithCode(CodeTaskNoCapacity, worker.Retry(fmt.Errorf("ECS started no task: %s", answer.Printable([]byte(refusal.ErrorMessage())))))}
	}
	return err
}
