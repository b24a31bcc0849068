package bucket_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/belfry-scheduler/belfry/pkg/archive"
	"github.com/belfry-scheduler/belfry/pkg/archive/bucket"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
)

// shelf is a bucket that is there, at whatever serves S3.
type shelf struct {
	*testing.T
	client *s3.Client
	name   string
	config aws.Config
	names  func(shelf) []string // of everything that was ever stored, sorted
}

// local is a shelf in this process.
func local(t *testing.T) shelf {
	t.Helper()
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	p := shelf{T: t, config: backend.Config(), name: "archive", client: s3.NewFromConfig(backend.Config()), names: listed}
	if _, err := p.client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &p.name}); err != nil {
		t.Fatal(err)
	}
	return p
}

func listed(p shelf) []string {
	p.Helper()
	out, err := p.client.ListObjectsV2(p.Context(), &s3.ListObjectsV2Input{Bucket: &p.name})
	if err != nil {
		p.Fatal(err)
	}
	var names []string
	for _, one := range out.Contents {
		names = append(names, *one.Key)
	}
	return names
}

func TestABatchIsStoredOnce(t *testing.T)       { storedOnce(local(t)) }
func TestWhatIsThereIsNotReplaced(t *testing.T) { notReplaced(local(t)) }
func TestABucketThatIsNotThereAsksForTheBatchAgain(t *testing.T) {
	asksAgain(local(t))
}

// content is what an object holds.
func (p shelf) content(name string) []byte {
	p.Helper()
	out, err := p.client.GetObject(p.Context(), &s3.GetObjectInput{Bucket: &p.name, Key: &name})
	if err != nil {
		p.Fatal(err)
	}
	content, err := io.ReadAll(out.Body)
	if err != nil {
		p.Fatal(err)
	}
	return content
}

// rows are those of an object.
func (p shelf) rows(name string) []map[string]any {
	p.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(p.content(name)))
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

func storedOnce(p shelf) {
	a := &archive.Archiver{Objects: bucket.New(p.config, p.name)}
	for delivery := range 3 {
		if response, err := a.Handle(p.Context(), verbs(20)); err != nil || len(response.BatchItemFailures) > 0 {
			p.Fatalf("delivery %d: %v, %v", delivery, response, err)
		}
	}
	names := p.names(p)
	if len(names) != 1 || !strings.HasPrefix(names[0], "kind=audit/tenant=acme/date=2026-03-14/100000000000000000000-100000000000000000019-") {
		p.Fatalf("three deliveries left %q, want one", names)
	}
	if rows := p.rows(names[0]); len(rows) != 20 || rows[19]["id"] != "event19.0" || rows[19]["job"] != "nightly" {
		p.Errorf("the object holds %d rows, the last is %v", len(rows), rows[len(rows)-1])
	}
	half := verbs(20)
	half.Records = half.Records[10:]
	if response, err := a.Handle(p.Context(), half); err != nil || len(response.BatchItemFailures) > 0 || len(p.names(p)) != 2 {
		p.Errorf("half of the batch alone: %v, %v, names %q; want one of its own", response, err, p.names(p))
	}
}

func notReplaced(p shelf) {
	b := bucket.New(p.config, p.name)
	for _, content := range []string{"first", "second"} {
		if err := b.Put(p.Context(), "kind=audit/x.json.gz", []byte(content)); err != nil {
			p.Fatal(err)
		}
	}
	if content := p.content("kind=audit/x.json.gz"); string(content) != "first" || len(p.names(p)) != 1 {
		p.Errorf("stored are %q, it holds %q; want the first alone", p.names(p), content)
	}
}

func asksAgain(p shelf) {
	a := &archive.Archiver{Objects: bucket.New(p.config, "no-such-"+p.name)}
	response, err := a.Handle(p.Context(), verbs(3))
	if err != nil || len(response.BatchItemFailures) != 1 || response.BatchItemFailures[0].ItemIdentifier != "100000000000000000000" {
		p.Errorf("answered %v, %v; want the first record reported", response, err)
	}
}

// Whatever becomes of a call on its way, one object is stored, or the caller is
// told and a second delivery stores it.
func TestEachFaultAtEachCallLeavesOneObject(t *testing.T) {
	actions := []fault.Action{fault.Throttle, fault.FailBefore, fault.LoseResponse, fault.Conflict, fault.CrashBefore, fault.CrashAfter}
	runs := fault.Sweep(actions, nil, func(trial fault.Trial) {
		synctest.Test(t, func(t *testing.T) { oneObject(local(t), trial) })
	})
	if runs != len(actions) {
		t.Errorf("%d runs with a fault, want one for each of %d", runs, len(actions))
	}
}

func oneObject(p shelf, trial fault.Trial) {
	struck := p.config
	struck.HTTPClient = fault.Wrap(p.config.HTTPClient, trial.Decide)
	err := bucket.New(struck, p.name).Put(p.Context(), "x", []byte("packed"))
	crashed := trial.Action == fault.CrashBefore || trial.Action == fault.CrashAfter
	if told := crashed || trial.Action == fault.Conflict; told != (err != nil) || crashed != errors.Is(err, fault.ErrCrashed) {
		p.Errorf("%s: answered %v", trial.Name, err)
	}
	if err := bucket.New(p.config, p.name).Put(p.Context(), "x", []byte("packed")); err != nil {
		p.Errorf("%s: the second delivery: %v", trial.Name, err)
	}
	if content := p.content("x"); string(content) != "packed" || len(p.names(p)) != 1 {
		p.Errorf("%s: stored are %q, it holds %q", trial.Name, p.names(p), content)
	}
}
