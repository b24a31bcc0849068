package cloud

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/target/internal/answer"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// Codes of what a function itself ended with.
const (
	CodeFunctionHandled   = "LAMBDA_HANDLED_ERROR"   // its code answered with an error
	CodeFunctionUnhandled = "LAMBDA_UNHANDLED_ERROR" // it crashed, or its runtime did
	CodeFunctionTimeout   = "LAMBDA_FUNCTION_TIMEOUT"
	CodeFunctionPermanent = "LAMBDA_PERMANENT_ERROR" // it said so: PermanentErrorType
)

// PermanentErrorType is the type of error by which a function says that trying
// again cannot help. What stands before a full stop, as in the names of Java, is
// passed over.
const PermanentErrorType = "BelfryPermanent"

// invoke is the target lambda.
func (a *Account) invoke(ctx context.Context, attempt *worker.Attempt) error {
	target := attempt.Target().Lambda
	if target == nil {
		return unusable("LAMBDA")
	}
	kind := types.InvocationTypeRequestResponse
	if target.Invocation == job.InvocationAsync {
		kind = types.InvocationTypeEvent
	}
	return a.perform(ctx, attempt, call{"LAMBDA", "Invoke", func(ctx context.Context, c contract) ([]slog.Attr, error) {
		said, err := clientContext(c)
		if err != nil {
			return nil, err
		}
		input := &lambda.InvokeInput{FunctionName: &target.Function, InvocationType: kind, ClientContext: &said, Payload: []byte(body(attempt))}
		if target.Qualifier != "" {
			input.Qualifier = &target.Qualifier
		}
		out, err := a.lambda().Invoke(ctx, input, func(o *lambda.Options) { in(regionOf(target.Function), &o.Region) })
		if err != nil {
			return nil, err
		}
		id, _ := awsmiddleware.GetRequestIDMetadata(out.ResultMetadata)
		started := []slog.Attr{slog.String("request_id", id)}
		if version := aws.ToString(out.ExecutedVersion); version != "" {
			started = append(started, slog.String("version", version))
		}
		if out.FunctionError != nil {
			return started, judged{functionFailure(*out.FunctionError, out.Payload)}
		}
		return started, nil
	}})
}

// clientContext is the contract as Lambda's runtimes read it beside the event.
func clientContext(c contract) (string, error) {
	text, err := json.Marshal(map[string]any{"custom": c.custom()})
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(text), nil
}

// functionFailure is what a function's own error means. kind is Handled or
// Unhandled, as the service says; newer runtimes say Unhandled of both.
func functionFailure(kind string, payload []byte) error {
	var said struct {
		Type    string `json:"errorType"`
		Message string `json:"errorMessage"`
	}
	text := "the function answered with an error that does not read: " + answer.Printable(payload)
	if json.Unmarshal(payload, &said) == nil && (said.Type != "" || said.Message != "") {
		text = fmt.Sprintf("the function failed: %s: %s", answer.Printable([]byte(said.Type)), answer.Printable([]byte(said.Message)))
	}
	err := errors.New(text)
	switch own := said.Type[strings.LastIndexByte(said.Type, '.')+1:]; {
	case own == PermanentErrorType:
		return worker.WithCode(CodeFunctionPermanent, worker.Permanent(err))
	case said.Type == "Sandbox.Timedout" || strings.Contains(said.Message, "Task timed out after"):
		return worker.WithCode(CodeFunctionTimeout, worker.TimedOut(err))
	case kind == "Handled":
		return worker.WithCode(CodeFunctionHandled, worker.Retry(err))
	}
	return worker.WithCode(CodeFunctionUnhandled, worker.Retry(err))
}
