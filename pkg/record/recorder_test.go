package record_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/record"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

// shelf keeps what was written, by the name of the item, and refuses what
// refuse says.
type shelf struct {
	mu     sync.Mutex
	items  map[string]string
	writes int
	refuse func(name string) bool
}

func (s *shelf) write(name, content string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	if s.refuse != nil && s.refuse(name) {
		return errors.New("throttled")
	}
	if s.items == nil {
		s.items = map[string]string{}
	}
	s.items[name] = content
	return nil
}

func (s *shelf) WriteRecent(_ context.Context, p store.RecentPage) error {
	return s.write("recent "+p.Tenant+p.Minute.Format("1504")+p.Mark, fmt.Sprint(p.Entries))
}

func (s *shelf) WriteAttention(_ context.Context, e *job.Execution, at time.Time) error {
	return s.write("attention "+e.Job+e.Key.String()+at.String(), string(e.Status))
}

func (s *shelf) WriteHistory(_ context.Context, e *job.Execution, place int, entry job.Entry) error {
	return s.write(fmt.Sprintf("history %s %s %d", e.Job, e.Key, place), fmt.Sprint(entry))
}

// image is an execution as the table stores it, as far as these tests need.
func image(name, key string, status job.Status) map[string]events.DynamoDBAttributeValue {
	return map[string]events.DynamoDBAttributeValue{"pk": events.NewStringAttribute("default/" + name), "sk": events.NewStringAttribute(key),
		"schema": events.NewNumberAttribute("1"), "status": events.NewStringAttribute(string(status)), "finished_at": events.NewNumberAttribute("1783857601000")}
}

func insert(n int, name, key string) events.DynamoDBEventRecord {
	return events.DynamoDBEventRecord{EventID: fmt.Sprintf("id%d", n), EventName: "INSERT",
		Change: events.DynamoDBStreamRecord{SequenceNumber: fmt.Sprintf("seq%d", n), NewImage: image(name, key, job.Scheduled)}}
}

func end(n int, name, key string, status job.Status) events.DynamoDBEventRecord {
	return events.DynamoDBEventRecord{EventID: fmt.Sprintf("id%d", n), EventName: "MODIFY", Change: events.DynamoDBStreamRecord{
		SequenceNumber: fmt.Sprintf("seq%d", n), OldImage: image(name, key, job.Running), NewImage: image(name, key, status)}}
}

func batch() events.DynamoDBEvent {
	return events.DynamoDBEvent{Records: []events.DynamoDBEventRecord{
		insert(0, "a", "20260712T120000Z#s"), end(1, "b", "20260712T120000Z#s", job.Dead), insert(2, "c", "20260712T120100Z#s"),
		end(3, "d", "20260712T120000Z#s", job.Failed)}}
}

func handle(t *testing.T, s *shelf, e events.DynamoDBEvent) events.DynamoDBEventResponse {
	t.Helper()
	response, err := (&record.Recorder{Lists: s}).Handle(t.Context(), e)
	if err != nil {
		t.Fatalf("the function failed: %v", err)
	}
	return response
}

func TestTheSameBatchAgainWritesTheSameItems(t *testing.T) {
	s := &shelf{}
	if response := handle(t, s, batch()); len(response.BatchItemFailures) != 0 || len(s.items) != 4 {
		t.Fatalf("answered %v with %d items written, want no failure and 4", response, len(s.items))
	}
	first := s.items
	s.items = map[string]string{}
	handle(t, s, batch())
	if !reflect.DeepEqual(s.items, first) {
		t.Errorf("the second delivery wrote %v, the first %v", s.items, first)
	}
}

func TestTheFirstRecordWhoseItemFailedIsReportedAndTheRestIsWritten(t *testing.T) {
	s := &shelf{refuse: func(name string) bool { return !strings.HasPrefix(name, "recent default1200") }}
	response := handle(t, s, batch())
	want := []events.DynamoDBBatchItemFailure{{ItemIdentifier: "seq1"}}
	if !reflect.DeepEqual(response.BatchItemFailures, want) {
		t.Errorf("reported %v, want %v", response.BatchItemFailures, want)
	}
	if s.writes != 4 {
		t.Errorf("tried %d items, want all 4", s.writes)
	}
}

func TestARetriedBatchLosesNothingHoweverItIsCut(t *testing.T) {
	whole, cut := &shelf{}, &shelf{}
	records := batch().Records
	records = append(records, insert(4, "e", "20260712T120007Z#s"))
	handle(t, whole, events.DynamoDBEvent{Records: records})
	handle(t, cut, events.DynamoDBEvent{Records: records})
	for from := range records {
		handle(t, cut, events.DynamoDBEvent{Records: records[from:]})
		handle(t, cut, events.DynamoDBEvent{Records: records[:from+1]})
	}
	for name, content := range whole.items {
		for _, entry := range strings.Split(strings.Trim(content, "[]"), "} {") {
			if !strings.Contains(fmt.Sprint(cut.items), strings.Trim(entry, "{}")) {
				t.Errorf("%s named %s, which no page names after the batch was cut", name, entry)
			}
		}
	}
}

func TestARecordThatDoesNotReadHoldsNothingUp(t *testing.T) {
	s := &shelf{}
	broken := insert(9, "a", "20260712T120000Z#s")
	broken.Change.NewImage["cancel"] = events.NewStringAttribute("{")
	strange := events.DynamoDBEventRecord{EventID: "id10", EventName: "INSERT", Change: events.DynamoDBStreamRecord{SequenceNumber: "seq10",
		NewImage: map[string]events.DynamoDBAttributeValue{"pk": events.NewStringAttribute("default/a"), "sk": events.NewStringAttribute("20260712T120000Z#s#H#00002")}}}
	e := events.DynamoDBEvent{Records: append([]events.DynamoDBEventRecord{broken, strange}, batch().Records...)}
	var log strings.Builder
	response, err := (&record.Recorder{Lists: s, Log: slog.New(slog.NewTextHandler(&log, nil))}).Handle(t.Context(), e)
	if err != nil || len(response.BatchItemFailures) != 0 {
		t.Errorf("reported %v, %v, want nothing", response.BatchItemFailures, err)
	}
	if said := log.String(); strings.Count(said, "\n") != 1 || !strings.Contains(said, "id9") || strings.Contains(said, "id10") {
		t.Errorf("logged %q, want one line that names the record", said)
	}
	if len(s.items) != 4 {
		t.Errorf("wrote %d items, want the 4 of the readable records", len(s.items))
	}
}
