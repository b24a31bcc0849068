package cloud

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/belfry-scheduler/belfry/pkg/target/internal/answer"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// judged marks an error whose class is already said.
type judged struct{ error }

func (j judged) Unwrap() error { return j.error }

// passing are refusals, by the end of their code, that may pass although their
// status says that the caller is at fault.
var passing = []string{"RequestTimeout", "RequestTimeoutException", "ResourceConflictException", "ResourceNotReadyException",
	"SnapStartNotReadyException", "ENILimitReachedException", "EC2UnexpectedException", "EFSMountConnectivityException", "EFSMountTimeoutException"}

// failure says what becomes of an attempt whose call ended in err.
func (a *Account) failure(ctx context.Context, service string, err error) error {
	var already judged
	if errors.As(err, &already) {
		return already.error
	}
	var refusal smithy.APIError
	if !errors.As(err, &refusal) {
		return unheard(ctx, service, err)
	}
	code := word(service, refusal.ErrorCode())
	text := fmt.Errorf("%s answered %s: %s", named(service), bare(refusal.ErrorCode()), answer.Printable([]byte(refusal.ErrorMessage())))
	status, after := a.answer(err)
	switch throttled := isThrottle(refusal.ErrorCode()); {
	case ends(refusal.ErrorCode(), ownFault):
		return worker.Elsewhere(worker.WithCode(code, worker.Retry(text)))
	case throttled || status == http.StatusTooManyRequests:
		return worker.WithCode(code, worker.RetryAfter(text, after))
	case status >= http.StatusInternalServerError || refusal.ErrorFault() == smithy.FaultServer || ends(refusal.ErrorCode(), passing):
		return worker.WithCode(code, worker.Retry(text))
	case strings.Contains(refusal.ErrorCode(), "AccessDenied") || strings.Contains(refusal.ErrorCode(), "AuthorizationError"):
		text = fmt.Errorf("%w; the worker may call what the setting `targets` lists", text)
	}
	return worker.WithCode(code, worker.Permanent(text))
}

// ownFault are refusals, by the end of their code, that are about the worker's own
// credentials or clock: they say nothing about what was called.
var ownFault = []string{"ExpiredToken", "ExpiredTokenException", "RequestExpired", "ClockSkew", "RequestTimeTooSkewed"}

// answer is the status of the answer behind err, and how long it asks to be
// spared.
func (a *Account) answer(err error) (status int, after time.Duration) {
	var response *smithyhttp.ResponseError
	if !errors.As(err, &response) || response.Response == nil || response.Response.Response == nil {
		return 0, 0
	}
	after, _ = answer.RetryAfter(response.Response.Header.Get("Retry-After"), a.clock.Now())
	return response.HTTPStatusCode(), after
}

// unheard says what becomes of a call that got no answer that could be read.
func unheard(ctx context.Context, service string, err error) error {
	var timeout interface{ Timeout() bool }
	var invalid smithy.InvalidParamsError
	switch {
	case ctx.Err() != nil:
		return worker.WithCode(service+"_TIMEOUT", fmt.Errorf("no answer before the attempt ended: %w", ctx.Err()))
	case errors.As(err, &invalid):
		return worker.Elsewhere(worker.WithCode(service+"_UNUSABLE", worker.Permanent(fmt.Errorf("call %s: %w", named(service), err))))
	case errors.As(err, &timeout) && timeout.Timeout():
		return worker.WithCode(service+"_TIMEOUT", worker.TimedOut(fmt.Errorf("call %s: %w", named(service), inmost(err))))
	}
	return worker.WithCode(service+"_CONNECTION", worker.Retry(fmt.Errorf("call %s: %w", named(service), inmost(err))))
}

// inmost is what failed, without the SDK's own words around it.
func inmost(err error) error {
	var operation *smithy.OperationError
	if errors.As(err, &operation) && operation.Err != nil {
		return operation.Err
	}
	return err
}

func isThrottle(code string) bool {
	_, is := retry.DefaultThrottleErrorCodes[bare(code)]
	return is || ends(code, []string{"Throttling", "ThrottlingException", "Throttled", "ThrottledException", "KMSThrottled", "OverLimit", "TooManyRequestsException"})
}

func ends(code string, with []string) bool {
	for _, end := range with {
		if strings.HasSuffix(code, end) {
			return true
		}
	}
	return false
}

// bare is a code without the namespace that older services put before it.
func bare(code string) string { return code[strings.LastIndexAny(code, ".#")+1:] }

// word is a service's code as one of ours: SQS and QueueDoesNotExist give
// SQS_QUEUE_DOES_NOT_EXIST.
func word(service, code string) string {
	code = strings.TrimSuffix(bare(code), "Exception")
	var b strings.Builder
	b.WriteString(service + "_")
	before := '_'
	for i, r := range code {
		switch {
		case r >= 0x80 || !unicode.IsLetter(r) && !unicode.IsDigit(r):
			b.WriteRune('_')
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(before) || followedByLower(code[i:]) && unicode.IsUpper(before)):
			b.WriteRune('_')
			b.WriteRune(r)
		default:
			b.WriteRune(unicode.ToUpper(r))
		}
		before = r
	}
	return b.String()[:min(b.Len(), 64)]
}

func followedByLower(text string) bool { return len(text) > 1 && unicode.IsLower(rune(text[1])) }
