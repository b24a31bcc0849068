package objects_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/objects"
)

// What was allowed when a job was saved may not be any more: whoever reads asks anew,
// and asks before S3 is.
func TestAPayloadIsReadUnderTheRulesAsTheyAreNow(t *testing.T) {
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	client := objects.NewClient(backend.Config())
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("acme-in")}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("acme-in"), Key: aws.String("jobs/a"), Body: strings.NewReader("content")}); err != nil {
		t.Fatal(err)
	}
	read := func(rules map[string][]string, key string) (string, error) {
		content, _, err := objects.NewPayloads(client, job.PayloadRules{Allowed: rules}).Payload(t.Context(), "acme", job.PayloadRef{Bucket: "acme-in", Key: key})
		return string(content), err
	}
	if content, err := read(map[string][]string{"acme": {"s3://acme-in/jobs/"}}, "jobs/a"); content != "content" || err != nil {
		t.Errorf("allowed: %q, %v", content, err)
	}
	for sentence, rules := range map[string]map[string][]string{"no more": nil, "to another tenant": {"beta": {"s3://acme-in/jobs/"}}, "beside it": {"acme": {"s3://acme-in/jobs/b/"}}} {
		if content, err := read(rules, "jobs/a"); content != "" || job.CodeOf(err) != job.CodePayloadForbidden {
			t.Errorf("%s: %q, %v", sentence, content, err)
		}
	}
	if _, err := read(map[string][]string{"*": {"s3://acme-in/"}}, "jobs/none"); err == nil || job.CodeOf(err) != "" || !strings.Contains(err.Error(), "s3://acme-in/jobs/none is not there") {
		t.Errorf("what is not there: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, _, err := objects.NewPayloads(client, job.PayloadRules{Allowed: map[string][]string{"*": {"s3://acme-in/"}}}).Payload(ended, "acme", job.PayloadRef{Bucket: "acme-in", Key: "jobs/a"}); err == nil {
		t.Error("read after the attempt's end")
	}
}
