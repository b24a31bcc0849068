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
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// toldInEvent is the payload of a job that invokes the callee: its first attempt
// fails. What the client context tells on AWS is told here, too, since emulators
// do not hand that on.
var toldInEvent = json.RawMessage(`{"fail":"once","told":{"belfry_job":"{{ job }}","belfry_execution_id":"{{ execution_id }}","belfry_idempotency_key":"{{ idempotency_key }}",` +
	`"belfry_attempt":"{{ attempt }}","belfry_fencing_token":"{{ fencing_token }}","belfry_scheduled_time":"{{ scheduled_time }}"}}`)

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
