//go:build conformance

package bucket_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/belfry-scheduler/belfry/pkg/archive"
	"github.com/belfry-scheduler/belfry/pkg/archive/bucket"
)

// peer is a bucket of the endpoint that BELFRY_CONFORMANCE_ENDPOINT names, made
// as the stack makes it: versioned, and locked.
type peer struct {
	*testing.T
	client *s3.Client
	name   string
	config aws.Config
}

func newPeer(t *testing.T) *peer {
	t.Helper()
	endpoint := os.Getenv("BELFRY_CONFORMANCE_ENDPOINT")
	if endpoint == "" {
		t.Fatal("BELFRY_CONFORMANCE_ENDPOINT must name the peer; `make conformance` starts one")
	}
	config := aws.Config{Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")}
	p := &peer{T: t, config: config, name: fmt.Sprintf("archive-%x", time.Now().UnixNano()), client: s3.NewFromConfig(config, func(o *s3.Options) { o.UsePathStyle = true })}
	if _, err := p.client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &p.name, ObjectLockEnabledForBucket: aws.Bool(true)}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.client.PutObjectLockConfiguration(t.Context(), &s3.PutObjectLockConfigurationInput{Bucket: &p.name, ObjectLockConfiguration: &types.ObjectLockConfiguration{
		ObjectLockEnabled: types.ObjectLockEnabledEnabled, Rule: &types.ObjectLockRule{DefaultRetention: &types.DefaultRetention{Mode: types.ObjectLockRetentionModeGovernance, Days: aws.Int32(1)}}}}); err != nil {
		t.Fatal(err)
	}
	return p
}

// versions are the names of all versions of all objects, sorted.
func (p *peer) versions() []string {
	p.Helper()
	out, err := p.client.ListObjectVersions(p.Context(), &s3.ListObjectVersionsInput{Bucket: &p.name})
	if err != nil {
		p.Fatal(err)
	}
	var names []string
	for _, v := range out.Versions {
		names = append(names, *v.Key)
	}
	slices.Sort(names)
	return names
}

// rows are those of an object.
func (p *peer) rows(name string) []map[string]any {
	p.Helper()
	out, err := p.client.GetObject(p.Context(), &s3.GetObjectInput{Bucket: &p.name, Key: &name})
	if err != nil {
		p.Fatal(err)
	}
	packed, err := io.ReadAll(out.Body)
	if err != nil {
		p.Fatal(err)
	}
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		p.Fatalf("%s is not packed: %v", name, err)
	}
	var rows []map[string]any
	for lines := json.NewDecoder(reader); lines.More(); {
		var row map[string]any
		if err := lines.Decode(&row); err != nil {
			p.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// verbs are the records of that many audit entries.
func verbs(count int) events.DynamoDBEvent {
	var e events.DynamoDBEvent
	for n := range count {
		at := time.Date(2026, 3, 14, 12, 0, n, 0, time.UTC)
		e.Records = append(e.Records, events.DynamoDBEventRecord{EventID: fmt.Sprintf("event%d", n), EventName: "INSERT", Change: events.DynamoDBStreamRecord{
			SequenceNumber: fmt.Sprintf("100000000000000000%03d", n), NewImage: map[string]events.DynamoDBAttributeValue{
				"pk": events.NewStringAttribute("AUDIT#acme/nightly"), "sk": events.NewStringAttribute(fmt.Sprintf("%d#%d", at.UnixMilli(), n)), "verb": events.NewStringAttribute("edit"),
				"actor": events.NewStringAttribute("ada"), "epoch": events.NewNumberAttribute(fmt.Sprint(n)), "at": events.NewNumberAttribute(fmt.Sprint(at.UnixMilli()))}}})
	}
	return e
}

func TestABatchIsStoredOnceOnAPeer(t *testing.T) {
	p := newPeer(t)
	a := &archive.Archiver{Objects: bucket.New(p.config, p.name)}
	for delivery := range 3 {
		if response, err := a.Handle(t.Context(), verbs(20)); err != nil || len(response.BatchItemFailures) > 0 {
			t.Fatalf("delivery %d: %v, %v", delivery, response, err)
		}
	}
	names := p.versions()
	if len(names) != 1 || !strings.HasPrefix(names[0], "kind=audit/tenant=acme/date=2026-03-14/100000000000000000000-100000000000000000019-") {
		t.Fatalf("three deliveries left the versions %q, want one", names)
	}
	if rows := p.rows(names[0]); len(rows) != 20 || rows[19]["id"] != "event19.0" || rows[19]["job"] != "nightly" {
		t.Errorf("the object holds %d rows, the last is %v", len(rows), rows[len(rows)-1])
	}
	half := verbs(20)
	half.Records = half.Records[10:]
	if response, err := a.Handle(t.Context(), half); err != nil || len(response.BatchItemFailures) > 0 || len(p.versions()) != 2 {
		t.Errorf("half of the batch alone: %v, %v, versions %q; want one of its own", response, err, p.versions())
	}
}

func TestWhatIsThereIsNotReplacedOnAPeer(t *testing.T) {
	p := newPeer(t)
	b := bucket.New(p.config, p.name)
	for _, content := range []string{"first", "second"} {
		if err := b.Put(t.Context(), "kind=audit/x.json.gz", []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	out, err := p.client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &p.name, Key: aws.String("kind=audit/x.json.gz")})
	if err != nil {
		t.Fatal(err)
	}
	if content, _ := io.ReadAll(out.Body); string(content) != "first" || len(p.versions()) != 1 {
		t.Errorf("%d versions, the newest holds %q; want the first alone", len(p.versions()), content)
	}
}

func TestABucketThatIsNotThereAsksForTheBatchAgainOnAPeer(t *testing.T) {
	p := newPeer(t)
	a := &archive.Archiver{Objects: bucket.New(p.config, "no-such-"+p.name)}
	response, err := a.Handle(context.Background(), verbs(3))
	if err != nil || len(response.BatchItemFailures) != 1 || response.BatchItemFailures[0].ItemIdentifier != "100000000000000000000" {
		t.Errorf("answered %v, %v; want the first record reported", response, err)
	}
}
