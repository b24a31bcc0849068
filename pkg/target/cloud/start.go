package cloud

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// start is the target stepfunctions.
func (a *Account) start(ctx context.Context, attempt *worker.Attempt) error {
	target := attempt.Target().StepFunctions
	if target == nil {
		return unusable("STEPFUNCTIONS")
	}
	return a.perform(ctx, attempt, call{"STEPFUNCTIONS", "StartExecution", func(ctx context.Context, c contract) ([]slog.Attr, error) {
		input, err := c.within(attempt.Payload())
		if err != nil {
			return nil, judged{worker.WithCode("STEPFUNCTIONS_UNUSABLE", worker.Permanent(fmt.Errorf("the payload is no object: %w", err)))}
		}
		name := a.nameOf(c)
		out, err := a.states().StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: &target.StateMachineARN, Name: &name, Input: aws.String(string(input))},
			func(o *sfn.Options) { in(regionOf(target.StateMachineARN), &o.Region) })
		var exists *types.ExecutionAlreadyExists
		if errors.As(err, &exists) {
			// An earlier attempt started it and its answer was lost: the name is of this
			// execution alone.
			return []slog.Attr{slog.String("execution_arn", executionARN(target.StateMachineARN, name)), slog.Bool("already", true)}, nil
		}
		if err != nil {
			return nil, err
		}
		return []slog.Attr{slog.String("execution_arn", aws.ToString(out.ExecutionArn))}, nil
	}})
}

// executionARN is that of a state machine's execution.
func executionARN(machine, name string) string {
	a, is := job.ParseARN(machine)
	called, of := a.Name("stateMachine:")
	if !is || !of {
		return name
	}
	called, _, _ = strings.Cut(called, ":") // a version or an alias
	return strings.Join([]string{"arn", a.Partition, a.Service, a.Region, a.Account, "execution", called, name}, ":")
}

// longestName is that of an execution of a state machine.
const longestName = 80

// nameOf is the execution's id as a name of one of a state machine: what names
// cannot hold is replaced, a job's long name is cut, and a digest keeps apart
// what then looks alike, as well as tenants and installations.
func (a *Account) nameOf(c contract) string {
	digest := "_" + a.digestOf(c)[:16]
	job, rest, _ := strings.Cut(c.ExecutionID, "~")
	rest = "_" + strings.ReplaceAll(rest, "~", "_") + digest
	return job[:min(len(job), longestName-len(rest))] + rest
}

// digestOf is the same for all attempts of an execution, and of no other: in
// another tenant or installation a job of that name has a digest of its own.
func (a *Account) digestOf(c contract) string {
	sum := sha256.Sum256([]byte(a.installation + "\n" + c.Tenant + "\n" + c.ExecutionID))
	return hex.EncodeToString(sum[:])
}
