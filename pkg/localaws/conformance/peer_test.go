//go:build conformance

package conformance_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/localaws/conformance"
)

// startMoto starts the program that BELFRY_MOTO_SERVER names on a free port
// and returns its address once it answers.
func startMoto(t *testing.T) string {
	t.Helper()
	program := os.Getenv("BELFRY_MOTO_SERVER")
	if program == "" {
		t.Fatal("BELFRY_MOTO_SERVER must name the moto_server program; `make conformance` installs it")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	_ = listener.Close()
	command := exec.Command(program, "-H", "127.0.0.1", "-p", fmt.Sprint(port))
	if err := command.Start(); err != nil {
		t.Fatalf("start %s: %v", program, err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	endpoint := fmt.Sprintf("http://localhost:%d", port)
	for deadline := time.Now().Add(60 * time.Second); ; {
		answer, err := http.Get(endpoint + "/moto-api/data.json")
		if err == nil {
			_ = answer.Body.Close()
			return endpoint
		}
		if time.Now().After(deadline) {
			t.Fatalf("moto_server does not answer: %v", err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func motoConfig(endpoint string) aws.Config {
	return aws.Config{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
		BaseEndpoint: aws.String(endpoint),
		HTTPClient:   &http.Client{Timeout: 30 * time.Second},
	}
}

func TestMotoSQS(t *testing.T) {
	config := motoConfig(startMoto(t))
	n := 0
	conformance.Run(t, conformance.SQSCases(), conformance.MotoSQSExceptions(), func(t *testing.T, run func(context.Context, *testing.T, conformance.Env)) {
		n++
		run(t.Context(), t, conformance.Env{
			DynamoDB: dynamodb.NewFromConfig(config),
			Streams:  dynamodbstreams.NewFromConfig(config),
			SQS:      sqs.NewFromConfig(config),
			Prefix:   strings.ToLower(fmt.Sprintf("c%d-", n)),
		})
	})
}
