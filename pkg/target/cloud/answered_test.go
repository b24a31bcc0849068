package cloud

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

// targets are one of each kind, as jobs name them.
func targets() map[string]job.Target {
	return map[string]job.Target{
		"LAMBDA":        {Lambda: &job.LambdaTarget{Function: "report"}},
		"SQS":           {SQS: &job.SQSTarget{QueueURL: "https://sqs.eu-west-1.amazonaws.com/111122223333/orders"}},
		"SNS":           {SNS: &job.SNSTarget{TopicARN: "arn:aws:sns:eu-west-1:111122223333:orders"}},
		"EVENTBRIDGE":   {EventBridge: &job.EventBridgeTarget{Source: "com.example", DetailType: "due"}},
		"STEPFUNCTIONS": {StepFunctions: &job.StepFunctionsTarget{StateMachineARN: "arn:aws:states:eu-west-1:111122223333:stateMachine:nightly"}},
		"ECS":           {ECS: &job.ECSTarget{Cluster: "batch", TaskDefinition: "report", Containers: []job.ContainerOverride{{Name: "main"}}}},
	}
}

func (a *Account) handlers() map[string]worker.Handler {
	return map[string]worker.Handler{"LAMBDA": a.invoke, "SQS": a.send, "SNS": a.publish, "EVENTBRIDGE": a.put, "STEPFUNCTIONS": a.start, "ECS": a.run}
}

// answered makes one attempt whose call gets that answer, byte for byte, and
// says what becomes of it and how often it was called.
func answered(t *testing.T, service string, status int, text string, headers ...string) (calls int, err error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		_, _ = io.Copy(io.Discard, r.Body)
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		fmt.Fprint(w, text)
	}))
	defer server.Close()
	config := aws.Config{Region: "eu-west-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("id", "key", "")}
	there := New(Options{AWS: &config, Clock: clock.System{}, Installation: "belfry"})
	err = there.handlers()[service](t.Context(), workertest.Attempt(facts(targets()[service], `{"a":1}`)))
	return calls, err
}

// facts are those of an attempt in the tests of targets in AWS.
func facts(target job.Target, payload string) workertest.Facts {
	return workertest.Facts{Tenant: "acme", Job: "nightly", Revision: 3, Number: 2, FencingToken: 9, Payload: payload, Target: target}
}

func refusal(code, message string) string {
	return fmt.Sprintf(`{"__type":"%s","message":"%s","Message":"%s"}`, code, message, message)
}

// What the services answer, on the wire, and what that makes of an attempt.
func TestWhatAnAnswerOfAWSMeans(t *testing.T) {
	const typed = "X-Amzn-ErrorType"
	for sentence, row := range map[string]struct {
		service string
		status  int
		text    string
		headers []string
		class   string // "" = success
		code    string
		after   time.Duration
	}{
		"a function answers":                      {"LAMBDA", 200, `{"ok":true}`, nil, "", "", 0},
		"an event is taken":                       {"LAMBDA", 202, ``, nil, "", "", 0},
		"a function answers with an error":        {"LAMBDA", 200, `{"errorType":"ValueError","errorMessage":"no such day"}`, []string{"X-Amz-Function-Error", "Handled"}, "transient", CodeFunctionHandled, 0},
		"a function crashes":                      {"LAMBDA", 200, `{"errorType":"Runtime.ExitError","errorMessage":"exit status 1"}`, []string{"X-Amz-Function-Error", "Unhandled"}, "transient", CodeFunctionUnhandled, 0},
		"a function runs out of time":             {"LAMBDA", 200, `{"errorMessage":"2026-07-12 Task timed out after 3.00 seconds"}`, []string{"X-Amz-Function-Error", "Unhandled"}, "timeout", CodeFunctionTimeout, 0},
		"a function that is over says so":         {"LAMBDA", 200, `{"errorType":"com.example.BelfryPermanent","errorMessage":"gone"}`, []string{"X-Amz-Function-Error", "Unhandled"}, "permanent", CodeFunctionPermanent, 0},
		"a function's error is no object":         {"LAMBDA", 200, `"oops"`, []string{"X-Amz-Function-Error", "Unhandled"}, "transient", CodeFunctionUnhandled, 0},
		"too many invocations":                    {"LAMBDA", 429, `{"Reason":"ReservedFunctionConcurrentInvocationLimitExceeded","message":"Rate Exceeded."}`, []string{typed, "TooManyRequestsException", "Retry-After", "7"}, "throttled", "LAMBDA_TOO_MANY_REQUESTS", 7 * time.Second},
		"no such function":                        {"LAMBDA", 404, refusal("", "Function not found"), []string{typed, "ResourceNotFoundException"}, "permanent", "LAMBDA_RESOURCE_NOT_FOUND", 0},
		"a function that may not be invoked":      {"LAMBDA", 403, refusal("", "not authorized"), []string{typed, "AccessDeniedException"}, "permanent", "LAMBDA_ACCESS_DENIED", 0},
		"an event that is too large":              {"LAMBDA", 413, refusal("", "too large"), []string{typed, "RequestTooLargeException"}, "permanent", "LAMBDA_REQUEST_TOO_LARGE", 0},
		"a function that is being updated":        {"LAMBDA", 409, refusal("", "in progress"), []string{typed, "ResourceConflictException"}, "transient", "LAMBDA_RESOURCE_CONFLICT", 0},
		"Lambda itself fails":                     {"LAMBDA", 500, refusal("", "sorry"), []string{typed, "ServiceException"}, "transient", "LAMBDA_SERVICE", 0},
		"no such queue":                           {"SQS", 400, refusal("com.amazonaws.sqs#QueueDoesNotExist", "no"), nil, "permanent", "SQS_QUEUE_DOES_NOT_EXIST", 0},
		"a queue that is throttled":               {"SQS", 400, refusal("com.amazonaws.sqs#RequestThrottled", "slow down"), nil, "throttled", "SQS_REQUEST_THROTTLED", 0},
		"credentials that have just expired":      {"SQS", 403, refusal("ExpiredTokenException", "expired"), nil, "transient", "SQS_EXPIRED_TOKEN", 0},
		"a topic that may not be published on":    {"SNS", 403, `<ErrorResponse><Error><Type>Sender</Type><Code>AuthorizationError</Code><Message>no</Message></Error></ErrorResponse>`, nil, "permanent", "SNS_AUTHORIZATION_ERROR", 0},
		"an answer that is no error of AWS":       {"SNS", 502, `<html>bad gateway</html>`, nil, "transient", "", 0},
		"an event is put":                         {"EVENTBRIDGE", 200, `{"FailedEntryCount":0,"Entries":[{"EventId":"e1"}]}`, nil, "", "", 0},
		"an entry that failed within a good call": {"EVENTBRIDGE", 200, `{"FailedEntryCount":1,"Entries":[{"ErrorCode":"InternalFailure","ErrorMessage":"sorry"}]}`, nil, "transient", "EVENTBRIDGE_INTERNAL_FAILURE", 0},
		"an entry that was throttled":             {"EVENTBRIDGE", 200, `{"FailedEntryCount":1,"Entries":[{"ErrorCode":"ThrottlingException","ErrorMessage":"slow down"}]}`, nil, "throttled", "EVENTBRIDGE_THROTTLING", 0},
		"an entry that was not authorized":        {"EVENTBRIDGE", 200, `{"FailedEntryCount":1,"Entries":[{"ErrorCode":"NotAuthorizedForDetailTypeException","ErrorMessage":"no"}]}`, nil, "permanent", "EVENTBRIDGE_NOT_AUTHORIZED_FOR_DETAIL_TYPE", 0},
		"a count of failures without entries":     {"EVENTBRIDGE", 200, `{"FailedEntryCount":1,"Entries":[]}`, nil, "transient", "EVENTBRIDGE_FAILED_ENTRY", 0},
		"a machine that is started":               {"STEPFUNCTIONS", 200, `{"executionArn":"arn:x","startDate":1}`, nil, "", "", 0},
		"a machine that was started before":       {"STEPFUNCTIONS", 400, refusal("com.amazonaws.swf.service.v2.model#ExecutionAlreadyExists", "it is"), nil, "", "", 0},
		"no such machine":                         {"STEPFUNCTIONS", 400, refusal("StateMachineDoesNotExist", "no"), nil, "permanent", "STEPFUNCTIONS_STATE_MACHINE_DOES_NOT_EXIST", 0},
		"too many executions of a machine":        {"STEPFUNCTIONS", 400, refusal("ThrottlingException", "slow down"), nil, "throttled", "STEPFUNCTIONS_THROTTLING", 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			calls, err := answered(t, row.service, row.status, row.text, row.headers...)
			f := worker.FailureOf(err)
			if row.class == "" {
				if f != nil {
					t.Errorf("failed with %+v", f)
				}
				return
			}
			if f == nil || string(f.Class) != row.class || row.code != "" && f.Code != row.code || f.RetryAfter != row.after || calls != 1 {
				t.Errorf("%+v after %d calls; want %s, %s, %s after one", f, calls, row.class, row.code, row.after)
			}
			if f != nil && strings.HasSuffix(f.Code, "DENIED") && !strings.Contains(f.Text, "the setting `targets`") {
				t.Errorf("it does not say what to do: %s", f.Text)
			}
		})
	}
}

// Reports PB-135: of hundreds of tasks some never started, and nobody was told.
func TestPB135ATaskThatWasNotStartedIsAFailureWithItsReason(t *testing.T) {
	for sentence, row := range map[string]struct {
		status            int
		text, class, code string
	}{
		"a task":                          {200, `{"tasks":[{"taskArn":"arn:t"}],"failures":[]}`, "", ""},
		"no memory left":                  {200, `{"tasks":[],"failures":[{"arn":"arn:i","reason":"RESOURCE:MEMORY"}]}`, "transient", CodeTaskNoCapacity},
		"no agent":                        {200, `{"tasks":[],"failures":[{"reason":"AGENT"}]}`, "transient", CodeTaskNoCapacity},
		"no capacity on Fargate":          {200, `{"tasks":[],"failures":[{"reason":"Capacity is unavailable at this time. Please try again later or in a different availability zone"}]}`, "transient", CodeTaskNoCapacity},
		"neither task nor failure":        {200, `{"tasks":[],"failures":[]}`, "transient", CodeTaskNotStarted},
		"what is missing":                 {200, `{"tasks":[],"failures":[{"arn":"arn:x","reason":"MISSING"}]}`, "permanent", "ECS_MISSING"},
		"a reason of tomorrow":            {200, `{"tasks":[],"failures":[{"reason":"ECLIPSE"}]}`, "transient", "ECS_FAILURE"},
		"throttled":                       {400, refusal("ThrottlingException", "slow down"), "throttled", "ECS_THROTTLING"},
		"a cluster without instances":     {400, refusal("InvalidParameterException", "No Container Instances were found in your cluster."), "transient", CodeTaskNoCapacity},
		"a task definition that is none":  {400, refusal("ClientException", "TaskDefinition not found."), "permanent", "ECS_CLIENT"},
		"a token whose task was started":  {400, `{"__type":"ConflictException","message":"in use","resourceIds":["arn:t"]}`, "", ""},
		"a conflict that names no task":   {400, `{"__type":"ConflictException","message":"in use"}`, "permanent", "ECS_CONFLICT"},
		"the service does not answer yet": {503, refusal("ServerException", "later"), "transient", "ECS_SERVER"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := answered(t, "ECS", row.status, row.text)
			f := worker.FailureOf(err)
			if (f == nil) != (row.class == "") || f != nil && (string(f.Class) != row.class || f.Code != row.code) {
				t.Errorf("%+v; want %s, %s", f, row.class, row.code)
			}
		})
	}
}

// The span of a call is what the other side is told to hang its own spans below.
func TestACallHasASpanThatTheTargetIsTold(t *testing.T) {
	kept := tracetest.NewSpanRecorder()
	tracer := sdk.NewTracerProvider(sdk.WithSpanProcessor(kept)).Tracer("test")
	ctx, above := tracer.Start(t.Context(), "above")
	said := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := base64.StdEncoding.DecodeString(r.Header.Get("X-Amz-Client-Context"))
		said = string(text)
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	config := aws.Config{Region: "eu-west-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("id", "key", "")}
	_ = New(Options{AWS: &config, Clock: clock.System{}}).invoke(ctx, workertest.Attempt(facts(targets()["LAMBDA"], ""))) // it fails, as the span says
	above.End()
	if len(kept.Ended()) != 2 {
		t.Fatalf("%d spans", len(kept.Ended()))
	}
	span := kept.Ended()[0]
	if span.Name() != "belfry.aws" || span.Parent().SpanID() != above.SpanContext().SpanID() || span.Status().Code != codes.Error || !strings.Contains(said, `"traceparent":"00-`+span.SpanContext().TraceID().String()+"-"+span.SpanContext().SpanID().String()) ||
		!strings.Contains(said, `"belfry_execution_id":"nightly~20260712T013000Z~v3"`) {
		t.Errorf("span %s, %v; the function is told %s", span.Name(), span.Status(), said)
	}
}

func TestACallThatIsNotAnsweredInTimeIsATimeout(t *testing.T) {
	begun, over := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(begun)
		select {
		case <-r.Context().Done():
		case <-over:
		}
	}))
	defer server.Close()
	defer close(over)
	config := aws.Config{Region: "eu-west-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("id", "key", "")}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	err := New(Options{AWS: &config, Clock: clock.System{}}).send(ctx, workertest.Attempt(facts(targets()["SQS"], "")))
	if f := worker.FailureOf(err); f == nil || f.Code != "SQS_TIMEOUT" {
		t.Errorf("%+v", f)
	}
	server.Close()
	err = New(Options{AWS: &config, Clock: clock.System{}}).send(t.Context(), workertest.Attempt(facts(targets()["SQS"], "")))
	if f := worker.FailureOf(err); f == nil || f.Code != "SQS_CONNECTION" || f.Class != "transient" {
		t.Errorf("%+v", f)
	}
}

func TestAWorkerWithoutAnAccountSaysWhatToDo(t *testing.T) {
	without := New(Options{Clock: clock.System{}, WithoutAWS: "start it with --aws"})
	for service, handle := range without.handlers() {
		f := worker.FailureOf(handle(t.Context(), workertest.Attempt(facts(targets()[service], ""))))
		if f == nil || f.Class != "permanent" || f.Code != CodeNotConfigured || !strings.Contains(f.Text, "start it with --aws") || !strings.Contains(f.Text, "to call "+named(service)) {
			t.Errorf("%s: %+v", service, f)
		}
		if f := worker.FailureOf(handle(t.Context(), workertest.Attempt(facts(job.Target{}, "")))); f == nil || f.Class != "permanent" || f.Code != service+"_UNUSABLE" {
			t.Errorf("%s of a job that names none: %+v", service, f)
		}
	}
}
