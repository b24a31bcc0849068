package object_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/object"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

// The second attempt took over and published; what the first, thawed, then publishes
// is refused, and readers follow the registration to whole bytes.
func ExamplePublish() {
	ctx := context.Background()
	client, name, err := bucket(ctx)
	if err != nil {
		panic(err)
	}
	for _, token := range []int64{2, 1} {
		a := workertest.Attempt(workertest.Facts{Job: "report", FencingToken: token})
		_, err := object.Publish(ctx, client, &s3.PutObjectInput{Bucket: &name, Key: aws.String("daily"),
			Body: strings.NewReader(fmt.Sprintf("report of token %d", token))}, idempotent.FenceOf(a))
		fmt.Println("token", token, "refused:", errors.Is(err, idempotent.ErrFenced))
	}
	current, err := object.Current(ctx, client, name, "daily")
	if err != nil {
		panic(err)
	}
	out, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: &name, Key: &current.Object})
	if err != nil {
		panic(err)
	}
	text, err := io.ReadAll(out.Body)
	fmt.Println(string(text), err)
	// Output:
	// token 2 refused: false
	// token 1 refused: true
	// report of token 2 <nil>
}

// One object whose bytes differ with every attempt.
func ExamplePut() {
	ctx := context.Background()
	client, name, err := bucket(ctx)
	if err != nil {
		panic(err)
	}
	for _, token := range []int64{1, 2, 1} {
		a := workertest.Attempt(workertest.Facts{Job: "report", Number: int(token), FencingToken: token})
		_, err := object.Put(ctx, client, &s3.PutObjectInput{Bucket: &name, Key: aws.String("status.json"),
			Body: strings.NewReader(fmt.Sprintf(`{"attempt":%d}`, a.Number()))}, idempotent.FenceOf(a))
		if err != nil {
			fmt.Println(worker.FailureOf(err).Code)
			continue
		}
		fmt.Println("stored by attempt", a.Number())
	}
	// Output:
	// stored by attempt 1
	// stored by attempt 2
	// FENCED
}
