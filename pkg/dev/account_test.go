package dev

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// told calls the API and reads the answer.
func told(ctx context.Context, method, url, body string) (map[string]any, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	var said map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&said); err != nil {
		return nil, err
	}
	if answer.StatusCode >= 300 {
		return said, fmt.Errorf("%s %s: %s: %v", method, url, answer.Status, said)
	}
	return said, nil
}

// ended runs a job with that target once and waits until its execution has ended.
func ended(ctx context.Context, api, target string) (map[string]any, error) {
	if _, err := told(ctx, http.MethodPut, api+"/v1/jobs/one", `{"schedule":{"every":"1d"},"payload":{"a":1},"target":`+target+`}`); err != nil {
		return nil, err
	}
	made, err := told(ctx, http.MethodPost, api+"/v1/jobs/one/run", "{}")
	if err != nil {
		return nil, err
	}
	for every := time.NewTicker(20 * time.Millisecond); ; {
		e, err := told(ctx, http.MethodGet, fmt.Sprintf("%s/v1/executions/%s", api, made["id"]), "")
		if status := e["status"]; err != nil || status == "SUCCEEDED" || status == "FAILED" || status == "DEAD" {
			return e, err
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return e, ctx.Err()
		}
	}
}

func TestATargetInAWSIsTakenAndFailsForGoodWithoutAnAccount(t *testing.T) {
	done := errors.New("seen enough")
	o := Options{Data: t.TempDir(), Listen: "127.0.0.1:0", AWSListen: "127.0.0.1:0", Entropy: rand.Reader}
	o.Ready = func(ctx context.Context, urls URLs) error {
		e, err := ended(ctx, urls.API, `{"sns":{"topic_arn":"arn:aws:sns:eu-west-1:111122223333:orders"}}`)
		if err != nil {
			return err
		}
		if e["status"] != "FAILED" || e["error_code"] != "AWS_NOT_CONFIGURED" || !strings.Contains(fmt.Sprint(e["error_text"]), "belfry dev --aws") || e["attempt"] != 1.0 {
			t.Errorf("it ended as %v", e)
		}
		return done
	}
	if err := Run(t.Context(), o); !errors.Is(err, done) {
		t.Fatal(err)
	}
}

// The local endpoint stands in for the account: what Belfry keeps in it and what
// jobs send to have nothing in common but the address.
func TestATargetInAWSIsCalledInTheAccountThatWasGiven(t *testing.T) {
	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	endpoint := "http://" + free.Addr().String()
	account := aws.Config{Region: "eu-west-1", BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider("id", "key", "")}
	done, queue := errors.New("seen enough"), sqs.NewFromConfig(account)
	o := Options{Data: t.TempDir(), Listen: "127.0.0.1:0", AWSListen: free.Addr().String(), Entropy: rand.Reader, AWS: &account}
	o.Ready = func(ctx context.Context, urls URLs) error {
		made, err := queue.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("orders")})
		if err != nil {
			return err
		}
		e, err := ended(ctx, urls.API, `{"sqs":{"queue_url":"`+*made.QueueUrl+`"}}`)
		if err != nil {
			return err
		}
		out, err := queue.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: made.QueueUrl, WaitTimeSeconds: 5, MessageAttributeNames: []string{"All"}})
		if err != nil {
			return err
		}
		if e["status"] != "SUCCEEDED" || len(out.Messages) != 1 || *out.Messages[0].Body != `{"a":1}` || !strings.Contains(*out.Messages[0].MessageAttributes["belfry"].StringValue, fmt.Sprint(e["id"])) {
			t.Errorf("it ended as %v, and %d messages arrived", e, len(out.Messages))
		}
		return done
	}
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Run(t.Context(), o); !errors.Is(err, done) {
		t.Fatal(err)
	}
}
