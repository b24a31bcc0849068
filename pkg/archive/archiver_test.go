package archive_test

import (
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/archive"
	"github.com/belfry-scheduler/belfry/pkg/observe"
)

// day is a batch of two tenants, with audit entries among them.
func day() events.DynamoDBEvent {
	return batch(life(1, "acme/a"), []events.DynamoDBEventRecord{audited(5, "acme/a", "create")}, life(6, "bolt/b"), life(10, "acme/c"),
		[]events.DynamoDBEventRecord{audited(14, "bolt/b", "pause")})
}

func asksForAll(e events.DynamoDBEvent) events.DynamoDBEventResponse {
	return events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{{ItemIdentifier: e.Records[0].Change.SequenceNumber}}}
}

func TestABatchIsOneObjectForEachKindTenantAndDay(t *testing.T) {
	v := &vault{}
	if response := handle(t, v, day()); len(response.BatchItemFailures) != 0 {
		t.Fatalf("reported %v", response.BatchItemFailures)
	}
	var places []string
	for _, name := range slices.Sorted(maps.Keys(v.objects)) {
		place, file := name[:strings.LastIndexByte(name, '/')], name[strings.LastIndexByte(name, '/')+1:]
		parts := strings.Split(strings.TrimSuffix(file, ".json.gz"), "-")
		if len(parts) != 3 || len(parts[2]) != 20 {
			t.Errorf("%s is named %s", place, file)
		}
		places = append(places, fmt.Sprintf("%s %s-%s: %d", place, parts[0], parts[1], len(unpack(t, v.objects[name]))))
	}
	want := []string{"kind=audit/tenant=acme/date=2026-03-14 90000005-90000005: 1", "kind=audit/tenant=bolt/date=2026-03-14 90000014-90000014: 1",
		"kind=transition/tenant=acme/date=2026-03-14 90000001-90000013: 6", "kind=transition/tenant=bolt/date=2026-03-14 90000006-90000009: 3"}
	if !slices.Equal(places, want) || v.puts != len(want) {
		t.Errorf("%d puts, objects are\n  %s\nwant\n  %s", v.puts, strings.Join(places, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestABatchThatComesAgainAddsNothing(t *testing.T) {
	v := &vault{}
	handle(t, v, day())
	first := maps.Clone(v.objects)
	v.objects = map[string][]byte{}
	handle(t, v, day())
	if !reflect.DeepEqual(v.objects, first) {
		t.Error("into an empty bucket the second delivery stores other objects, or other bytes, than the first")
	}
	handle(t, v, day())
	if !reflect.DeepEqual(v.objects, first) || v.there != len(first) {
		t.Errorf("the third delivery left %d objects, %d of them found there; want the %d of the first", len(v.objects), v.there, len(first))
	}
}

func TestABatchThatIsCutDifferentlyLosesNothingAndDoublesOnlyByIds(t *testing.T) {
	whole, cut := &vault{}, &vault{}
	records := day().Records
	handle(t, whole, events.DynamoDBEvent{Records: records})
	handle(t, cut, events.DynamoDBEvent{Records: records})
	handle(t, cut, events.DynamoDBEvent{Records: records[:len(records)/2]})
	handle(t, cut, events.DynamoDBEvent{Records: records[len(records)/2:]})
	want, _ := whole.rows(t)
	got, copies := cut.rows(t)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("by their ids there are %d rows with these contents, want the %d of the whole batch", len(got), len(want))
	}
	for id, n := range copies {
		if n > 2 {
			t.Errorf("%s is there %d times after it was told twice", id, n)
		}
	}
}

// TestAMiddleRecordMissingChangesTheName is about a stream that is read by more
// readers, or through another filter, from one delivery to the next.
func TestAMiddleRecordMissingChangesTheName(t *testing.T) {
	records := day().Records
	v := &vault{}
	handle(t, v, events.DynamoDBEvent{Records: slices.Concat(records[:1], records[2:])})
	handle(t, v, events.DynamoDBEvent{Records: records})
	if rows, _ := v.rows(t); rows["transition event0002.0"] == nil {
		t.Error("the row that was missing between the first and the last is not there: its object was taken for the shorter one")
	}
}

func TestAnObjectThatIsRefusedAsksForItsBatchAgainAndStopsNoOther(t *testing.T) {
	v := &vault{refuse: func(name string) bool { return strings.Contains(name, "transition/tenant=acme") }}
	var log strings.Builder
	response, err := (&archive.Archiver{Objects: v, Log: slog.New(slog.NewTextHandler(&log, nil))}).Handle(t.Context(), day())
	if err != nil || !reflect.DeepEqual(response, asksForAll(day())) {
		t.Errorf("answered %v, %v; want the first record reported", response, err)
	}
	if len(v.objects) != 3 || strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), "SlowDown") {
		t.Errorf("stored %d objects and said %q; want the other 3 and one line with the cause", len(v.objects), log.String())
	}
	v.refuse = nil
	handle(t, v, day())
	if rows, copies := v.rows(t); len(rows) != 11 || slices.Max(slices.Collect(maps.Values(copies))) != 1 {
		t.Errorf("after the retry %d rows, %v; want 11, each once", len(rows), copies)
	}
}

func TestARefusingBucketIsNotAskedForEveryObject(t *testing.T) {
	var records []events.DynamoDBEventRecord
	for n := range 300 {
		records = append(records, audited(n+1, fmt.Sprintf("tenant-%d/x", n), "pause"))
	}
	v := &vault{refuse: func(string) bool { return true }}
	if response := handle(t, v, events.DynamoDBEvent{Records: records}); !reflect.DeepEqual(response, asksForAll(events.DynamoDBEvent{Records: records})) {
		t.Errorf("answered %v", response)
	}
	if v.puts < 8 || v.puts > 16 {
		t.Errorf("a bucket that refuses everything was asked %d times, want 8 to 16", v.puts)
	}
}

func TestFewObjectsAreInMemoryAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var records []events.DynamoDBEventRecord
		for n := range 100 {
			records = append(records, audited(n+1, fmt.Sprintf("tenant-%d/x", n), "pause"))
		}
		v := &vault{gate: make(chan struct{})}
		go func() {
			for range records {
				synctest.Wait() // as many as can have begun
				v.gate <- struct{}{}
			}
		}()
		handle(t, v, events.DynamoDBEvent{Records: records})
		if v.most != 8 || len(v.objects) != 100 {
			t.Errorf("%d objects under way at a time, %d stored; want 8 and 100", v.most, len(v.objects))
		}
	})
}

func TestARecordThatDoesNotReadHoldsNothingUp(t *testing.T) {
	strange := ofNewKind(20)
	v := &vault{}
	var log strings.Builder
	response, err := (&archive.Archiver{Objects: v, Log: slog.New(slog.NewTextHandler(&log, nil))}).Handle(t.Context(),
		batch([]events.DynamoDBEventRecord{strange}, life(21, "acme/a")))
	if err != nil || len(response.BatchItemFailures) != 0 {
		t.Errorf("reported %v, %v", response, err)
	}
	rows, _ := v.rows(t)
	if len(rows) != 4 || rows["unread event0020.0"] == nil || !strings.Contains(log.String(), "event0020") {
		t.Errorf("%d rows, and the log says %q; want the 3 others, the record as it came, and a line that names it", len(rows), log.String())
	}
}

type still struct{}

func (still) Now() time.Time { return noon }

func TestARecordThatDoesNotReadIsCountedWhenItIsStored(t *testing.T) {
	var told strings.Builder
	v := &vault{refuse: func(string) bool { return true }}
	a := &archive.Archiver{Objects: v, Metrics: observe.New(observe.Options{Namespace: "Belfry/x", Out: &told, Clock: still{}})}
	strange := batch([]events.DynamoDBEventRecord{ofNewKind(1)})
	for range 2 {
		if response, err := a.Handle(t.Context(), strange); err != nil || len(response.BatchItemFailures) != 1 {
			t.Fatal(response, err)
		}
	}
	if told.Len() > 0 {
		t.Errorf("before it was stored it was counted: %s", told.String())
	}
	v.refuse = nil
	if _, err := a.Handle(t.Context(), strange); err != nil || !strings.Contains(told.String(), `"archive_unread":1`) {
		t.Errorf("told %q, %v; want the record counted once", told.String(), err)
	}
}

func TestNothingToArchiveStoresNothing(t *testing.T) {
	v := &vault{}
	records := life(1, "acme/a")
	handle(t, v, batch([]events.DynamoDBEventRecord{records[2], told(9, records[3].Change.NewImage, nil)}))
	handle(t, v, events.DynamoDBEvent{})
	if v.puts != 0 {
		t.Errorf("%d objects of a heartbeat, a removal and nothing", v.puts)
	}
}

// TestHoweverAStreamIsReadEachTransitionIsThere lets a reader start anywhere,
// read on, be refused, cut batches anew and begin again at the oldest record, as
// after a restore of the stream's position.
func TestHoweverAStreamIsReadEachTransitionIsThere(t *testing.T) {
	stream := batch(day().Records, life(20, "acme/d"), life(30, "bolt/e"), []events.DynamoDBEventRecord{audited(40, "acme/d", "delete")}).Records
	complete := &vault{}
	handle(t, complete, events.DynamoDBEvent{Records: stream})
	want, _ := complete.rows(t)
	rapid.Check(t, func(r *rapid.T) {
		v := &vault{}
		for pass := range rapid.IntRange(1, 3).Draw(r, "passes from the oldest record") {
			for at := 0; at < len(stream); {
				size := rapid.IntRange(1, len(stream)-at).Draw(r, "records")
				refusals := rapid.Uint64().Draw(r, "refusals") & rapid.Uint64().Draw(r, "fewer")
				puts := 0
				v.refuse = func(string) bool {
					puts++
					return pass < 3 && refusals>>(puts%64)&1 == 1
				}
				response, err := (&archive.Archiver{Objects: v}).Handle(t.Context(), events.DynamoDBEvent{Records: stream[at : at+size]})
				switch {
				case err != nil:
					r.Fatal(err)
				case len(response.BatchItemFailures) == 0:
					at += size
				case response.BatchItemFailures[0].ItemIdentifier != stream[at].Change.SequenceNumber:
					r.Fatalf("asks for %v, the batch begins with %s", response.BatchItemFailures, stream[at].Change.SequenceNumber)
				}
			}
		}
		if got, _ := v.rows(t); !reflect.DeepEqual(got, want) {
			r.Fatalf("%d rows by their ids, want the %d of the stream", len(got), len(want))
		}
	})
}
