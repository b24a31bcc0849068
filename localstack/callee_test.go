//go:build stack

package localstack

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/target/cloud"
)

// event is what the callee is handed. Told is what the client context tells on AWS,
// since emulators do not hand that on.
type event struct {
	Fail string            `json:"fail"`
	Rows []any             `json:"rows"`
	Told map[string]string `json:"told"`
}

// eventOf is the payload of a job that invokes the callee, to be filled in.
func eventOf(t *testing.T, fail string) json.RawMessage {
	t.Helper()
	e := event{Fail: fail, Rows: []any{map[string]any{"day": "{{ scheduled_time | date '%F' }}"}, 2.5, "Zoë"}, Told: map[string]string{}}
	for _, name := range []string{"job", "execution_id", "idempotency_key", "attempt", "fencing_token", "scheduled_time"} {
		e.Told["belfry_"+name] = "{{ " + name + " }}"
	}
	encoded, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

// callee makes the function that jobs of this run invoke, and takes it away when
// the test ends.
func (w town) callee(ctx context.Context) job.Target {
	w.Helper()
	endpoint := told(w.T, "BELFRY_STACK_ENDPOINT")
	client := lambda.NewFromConfig(aws.Config{Region: told(w.T, "AWS_REGION"), BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider(told(w.T, "AWS_ACCESS_KEY_ID"), told(w.T, "AWS_SECRET_ACCESS_KEY"), "")})
	name := "callee" + w.suffix
	architecture := types.ArchitectureX8664
	if told(w.T, "ARCH") == "arm64" {
		architecture = types.ArchitectureArm64
	}
	_, err := client.CreateFunction(ctx, &lambda.CreateFunctionInput{FunctionName: &name, Role: aws.String("arn:aws:iam::000000000000:role/callee"), Runtime: types.RuntimeProvidedal2023, Handler: aws.String("bootstrap"),
		Code: &types.FunctionCode{ZipFile: w.packed(ctx)}, Architectures: []types.Architecture{architecture}, Environment: &types.Environment{Variables: map[string]string{"RECEIVER": w.receiver.url}}})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if _, err := client.DeleteFunction(ctx, &lambda.DeleteFunctionInput{FunctionName: &name}); err != nil {
			w.Errorf("delete %s: %v", name, err)
		}
	})
	return job.Target{Lambda: &job.LambdaTarget{Function: name}}
}

// packed is the function's program as Lambda takes it.
func (w town) packed(ctx context.Context) []byte {
	w.Helper()
	file := filepath.Join(w.TempDir(), "bootstrap")
	build := exec.CommandContext(ctx, "go", "build", "-tags=lambda.norpc", "-o", file, "./testdata/callee")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		w.Fatalf("%v\n%s", err, out)
	}
	program, err := os.ReadFile(file)
	if err != nil {
		w.Fatal(err)
	}
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	header := &zip.FileHeader{Name: "bootstrap", Method: zip.Deflate}
	header.SetMode(0o755)
	into, err := archive.CreateHeader(header)
	if err != nil {
		w.Fatal(err)
	}
	if _, err := into.Write(program); err != nil {
		w.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		w.Fatal(err)
	}
	return packed.Bytes()
}

// decides runs jobs whose function fails: an error is tried again, one that is said to
// be for good is not. What arrives is the payload, filled in.
func (w town) decides(ctx context.Context, calls job.Target) {
	w.Helper()
	for fail, want := range map[string]struct {
		status   job.Status
		attempts int
		code     client.Text
	}{
		"once":     {job.Succeeded, 2, cloud.CodeFunctionUnhandled},
		"for good": {job.Failed, 1, cloud.CodeFunctionPermanent},
	} {
		name := w.put(ctx, job.Definition{Job: "fails-" + strings.ReplaceAll(fail, " ", "-"), Schedule: job.Schedule{Every: job.Duration(time.Hour)}, Paused: true, Target: calls, Template: true,
			Payload: eventOf(w.T, fail), Retry: job.Retry{MaxAttempts: 3, Base: job.Duration(time.Second)}})
		e := w.run(ctx, name)
		w.until(ctx, e.ID+" ends", func() bool {
			var err error
			if e, err = w.api.Execution(ctx, e.ID); err != nil {
				w.Fatal(err)
			}
			return !e.FinishedAt.IsZero()
		})
		course, err := w.api.Timeline(ctx, e.ID)
		if err != nil {
			w.Fatal(err)
		}
		failed := slices.IndexFunc(course.Items, func(entry client.Entry) bool { return entry.ErrorCode != "" })
		if e.Status != want.status || e.Attempt != want.attempts || failed < 0 || course.Items[failed].ErrorCode != want.code {
			w.Errorf("%s is %s after %d attempts; want %s after %d, by %s: %+v", e.ID, e.Status, e.Attempt, want.status, want.attempts, want.code, course.Items)
		}
		w.delivered(name, []client.Execution{e}, want.attempts)
		w.handedOver(e, fail)
	}
}

// handedOver expects the payload that eventOf made with each attempt of an execution.
// Emulators write JSON anew, so that what is compared is what it means.
func (w town) handedOver(e client.Execution, fail string) {
	w.Helper()
	for _, d := range w.receiver.of(e.Job)[e.ID] {
		var got event
		want := event{Fail: fail, Rows: []any{map[string]any{"day": e.ScheduledAt.UTC().Format(time.DateOnly)}, 2.5, "Zoë"},
			Told: map[string]string{"belfry_job": e.Job, "belfry_execution_id": e.ID, "belfry_idempotency_key": d.key, "belfry_attempt": strconv.Itoa(d.attempt),
				"belfry_fencing_token": strconv.FormatInt(d.token, 10), "belfry_scheduled_time": e.ScheduledAt.UTC().Format("2006-01-02T15:04:05.000Z")}}
		if err := json.Unmarshal(d.body, &got); err != nil || !reflect.DeepEqual(got, want) {
			w.Errorf("%v: the function was handed %s; want %+v", err, d.body, want)
		}
	}
}
