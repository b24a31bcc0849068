package archive_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/belfry-scheduler/belfry/pkg/archive"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// vault keeps objects as a bucket with conditional puts does, and refuses what
// refuse says.
type vault struct {
	mu      sync.Mutex
	objects map[string][]byte
	puts    int
	there   int // puts of a name that was taken
	open    int // puts under way
	most    int // of them at a time
	refuse  func(name string) bool
	gate    chan struct{} // not nil: each put waits for it
}

var errSlowDown = errors.New("SlowDown")

func (v *vault) Put(_ context.Context, name string, content []byte) error {
	v.mu.Lock()
	v.puts++
	v.open++
	v.most = max(v.most, v.open)
	v.mu.Unlock()
	if v.gate != nil {
		<-v.gate
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.open--
	if v.refuse != nil && v.refuse(name) {
		return errSlowDown
	}
	if v.objects == nil {
		v.objects = map[string][]byte{}
	}
	if _, taken := v.objects[name]; taken {
		v.there++
		return nil
	}
	v.objects[name] = bytes.Clone(content)
	return nil
}

// rows are all rows in the vault, by kind and id, each with how often it is there.
func (v *vault) rows(t *testing.T) (all map[string]map[string]any, copies map[string]int) {
	t.Helper()
	all, copies = map[string]map[string]any{}, map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(v.objects)) {
		for _, row := range unpack(t, v.objects[name]) {
			id := strings.TrimPrefix(name[:strings.Index(name, "/")], "kind=") + " " + row["id"].(string)
			all[id] = row
			copies[id]++
		}
	}
	return all, copies
}

func unpack(t *testing.T, packed []byte) []map[string]any {
	t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if !reader.ModTime.IsZero() {
		t.Errorf("the object is packed with the time %v, so that a second delivery has other bytes", reader.ModTime)
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]any
	for line := range strings.Lines(string(text)) {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		rows = append(rows, row)
	}
	return rows
}

func handle(t *testing.T, v *vault, e events.DynamoDBEvent) events.DynamoDBEventResponse {
	t.Helper()
	response, err := (&archive.Archiver{Objects: v}).Handle(t.Context(), e)
	if err != nil {
		t.Fatalf("the function failed: %v", err)
	}
	return response
}

func text(s string) events.DynamoDBAttributeValue { return events.NewStringAttribute(s) }

func number(n int64) events.DynamoDBAttributeValue {
	return events.NewNumberAttribute(strconv.FormatInt(n, 10))
}

// entry is a line of a timeline as the table stores it.
func entry(at time.Time, letter string, attempt int, rest string) string {
	return strings.Join([]string{strconv.FormatInt(at.UnixMilli(), 36), letter, strconv.FormatInt(int64(attempt), 36), strconv.FormatInt(int64(attempt), 36), rest}, "|")
}

type item map[string]events.DynamoDBAttributeValue

// stored is an execution as the table has it, with these entries.
func stored(of, key, status string, timeline ...string) item {
	entries := make([]events.DynamoDBAttributeValue, len(timeline))
	for i, e := range timeline {
		entries[i] = text(e)
	}
	return item{"pk": text(of), "sk": text(key), "schema": number(1), "status": text(status), "epoch": number(5), "revision": number(3), "pool": text("fast-io"), "type": text("report"), "target": text("webhook"),
		"timeline": events.NewListAttribute(entries), "available_at": number(noon.UnixMilli())}
}

func (i item) with(name string, value events.DynamoDBAttributeValue) item {
	changed := maps.Clone(i)
	changed[name] = value
	return changed
}

// told is the record number n of a change at noon and n seconds.
func told(n int, before, after item) events.DynamoDBEventRecord {
	r := events.DynamoDBEventRecord{EventID: fmt.Sprintf("event%04d", n), EventName: "MODIFY", EventSourceArn: "arn:aws:dynamodb:eu-central-1:111122223333:table/x/stream/y",
		Change: events.DynamoDBStreamRecord{SequenceNumber: fmt.Sprintf("9000%04d", n), OldImage: before, NewImage: after,
			ApproximateCreationDateTime: events.SecondsEpochTime{Time: noon.Add(time.Duration(n) * time.Second)}}}
	switch {
	case before == nil:
		r.EventName = "INSERT"
	case after == nil:
		r.EventName = "REMOVE"
	}
	key := after
	if key == nil {
		key = before
	}
	r.Change.Keys = item{"pk": key["pk"], "sk": key["sk"]}
	return r
}

const dueAtNoon = "20260314T120000Z#s"

// life is what a stream tells of one execution that goes well: it is stored, claimed,
// keeps its lease and succeeds; records from first on.
func life(first int, of string) []events.DynamoDBEventRecord {
	made := entry(noon.Add(-5*time.Minute), "s", 0, "MATERIALISED||")
	begun := entry(noon.Add(12*time.Millisecond), "r", 1, "CLAIMED|worker-1|")
	done := entry(noon.Add(2*time.Second), "S", 1, "DONE|worker-1|")
	scheduled, running := stored(of, dueAtNoon, "SCHEDULED", made), stored(of, dueAtNoon, "RUNNING", made, begun)
	return []events.DynamoDBEventRecord{told(first, nil, scheduled), told(first+1, scheduled, running),
		told(first+2, running, running.with("lease_until", number(1))), told(first+3, running, stored(of, dueAtNoon, "SUCCEEDED", made, begun, done))}
}

// ofNewKind is the record of an execution of a kind that this build does not know.
func ofNewKind(n int) events.DynamoDBEventRecord {
	return told(n, nil, stored("acme/x", "20260314T120000Z#q", "SCHEDULED", entry(noon, "s", 0, "MATERIALISED||")))
}

// audited is what a stream tells of a verb.
func audited(n int, of, verb string) events.DynamoDBEventRecord {
	at := noon.Add(time.Duration(n) * time.Second)
	return told(n, nil, item{"pk": text("AUDIT#" + of), "sk": text(fmt.Sprintf("%013d#%d", at.UnixMilli(), n)), "verb": text(verb), "actor": text("ada"),
		"epoch": number(int64(n)), "revision": number(2), "at": number(at.UnixMilli())})
}

// auditedOf is audited, about an execution.
func auditedOf(n int, of, verb, execution, note string) events.DynamoDBEventRecord {
	record := audited(n, of, verb)
	image := item{"execution": text(execution), "note": text(note)}
	for name, value := range record.Change.NewImage {
		image[name] = value
	}
	record.Change.NewImage = image
	return record
}

func batch(parts ...[]events.DynamoDBEventRecord) events.DynamoDBEvent {
	return events.DynamoDBEvent{Records: slices.Concat(parts...)}
}
