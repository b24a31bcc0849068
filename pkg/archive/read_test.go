package archive_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/belfry-scheduler/belfry/pkg/archive"
)

// said are the rows as "kind tenant date: from>to place reason" or, of another
// kind, what matters of it.
func said(t *testing.T, rows []archive.Row) []string {
	t.Helper()
	var lines []string
	for _, r := range rows {
		var content map[string]any
		if err := json.Unmarshal(r.Line, &content); err != nil {
			t.Fatal(err)
		}
		line := string(r.Kind) + " " + r.Tenant + " " + r.Date + ":"
		names := []string{"from_status", "to_status", "place", "attempt", "reason", "actor", "error_code", "error_text", "range_count"}
		switch r.Kind {
		case archive.Audit:
			names = []string{"job", "at", "verb", "actor", "epoch", "revision", "execution", "note"}
		case archive.Unread:
			names = []string{"item", "event", "why"}
		case archive.Transition:
		}
		for _, name := range names {
			if value, there := content[name]; there {
				encoded, _ := json.Marshal(value)
				line += " " + name + "=" + strings.Trim(string(encoded), `"`)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// reading is one record and what it leaves to archive.
type reading struct {
	name   string
	record events.DynamoDBEventRecord
	want   []string
}

func (c reading) check(t *testing.T) {
	e := events.DynamoDBEvent{Records: []events.DynamoDBEventRecord{c.record}}
	rows := archive.Rows(e)
	got := said(t, rows)
	same := len(got) == len(c.want)
	for i := range min(len(got), len(c.want)) {
		same = same && (got[i] == c.want[i] || strings.HasSuffix(c.want[i], "why=") && strings.HasPrefix(got[i], c.want[i]))
	}
	if !same {
		t.Errorf("rows are\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
	}
	if again := archive.Rows(e); !reflect.DeepEqual(again, rows) {
		t.Error("the same record gave other rows")
	}
}

var (
	made     = entry(noon.Add(-5*time.Minute), "s", 0, "MATERIALISED||")
	begun    = entry(noon, "r", 1, "CLAIMED|w|")
	failed   = entry(noon.Add(time.Second), "w", 1, "HANDLER_ERROR|w|HTTP_500")
	newFound = "zz|?|1|1|NEW|w|" // of a newer build
	running  = stored("acme/x", dueAtNoon, "RUNNING", made, begun)
	waiting  = stored("acme/x", dueAtNoon, "RETRY_WAIT", made, begun, failed).with("error_text", text("no answer"))
	unknown  = stored("acme/x", dueAtNoon, "HALTED", made, newFound)
)

// span is the record of a range.
func span(count int64, at time.Time) item {
	return stored("acme/x", "20260314T120000Z#x", "MISSED", entry(at, "M", 0, "JOB_PAUSED||")).with("range_count", number(count)).with("range_to", number(noon.Unix()+60))
}

func TestTransitions(t *testing.T) {
	dropping := stored("acme/x", dueAtNoon, "RETRY_WAIT", made, begun, failed).with("timeline_dropped", number(7)).with("error_code", text("HTTP_500"))
	for _, c := range []reading{
		{"a new execution tells that it was made", told(1, nil, stored("acme/x", dueAtNoon, "SCHEDULED", made)),
			[]string{"transition acme 2026-03-14: to_status=SCHEDULED place=0 attempt=0 reason=MATERIALISED"}},
		{"a claim tells from where", told(1, stored("acme/x", dueAtNoon, "SCHEDULED", made), running),
			[]string{"transition acme 2026-03-14: from_status=SCHEDULED to_status=RUNNING place=1 attempt=1 reason=CLAIMED actor=w"}},
		{"a failure tells its code and its text", told(1, running, waiting),
			[]string{"transition acme 2026-03-14: from_status=RUNNING to_status=RETRY_WAIT place=2 attempt=1 reason=HANDLER_ERROR actor=w error_code=HTTP_500 error_text=no answer"}},
		{"two entries of one write are two rows", told(1, stored("acme/x", dueAtNoon, "SCHEDULED", made), waiting),
			[]string{"transition acme 2026-03-14: from_status=SCHEDULED to_status=RUNNING place=1 attempt=1 reason=CLAIMED actor=w",
				"transition acme 2026-03-14: from_status=RUNNING to_status=RETRY_WAIT place=2 attempt=1 reason=HANDLER_ERROR actor=w error_code=HTTP_500 error_text=no answer"}},
		{"an entry that pushed others out has its place in the whole timeline",
			told(1, stored("acme/x", dueAtNoon, "RUNNING", made, begun, begun, begun).with("timeline_dropped", number(5)), dropping),
			[]string{"transition acme 2026-03-14: from_status=RUNNING to_status=RETRY_WAIT place=9 attempt=1 reason=HANDLER_ERROR actor=w error_code=HTTP_500"}},
		{"a heartbeat tells nothing", told(1, running, running.with("lease_until", number(7))), nil},
		{"a cancel request tells nothing yet", told(1, running, running.with("cancel", text(`{"by":"ada"}`))), nil},
		{"what is removed when its time to live has come tells nothing again", told(1, waiting, nil), nil},
		{"an entry that fell out was told when it was made", told(1, nil, item{"pk": text("acme/x"), "sk": text(dueAtNoon + "#H#00002"), "entry": text(begun)}), nil},
		{"the record of a range tells its count", told(1, nil, span(3, noon)),
			[]string{"transition acme 2026-03-14: to_status=MISSED place=0 attempt=0 reason=JOB_PAUSED range_count=3"}},
		{"a range that is written again is told again", told(1, span(3, noon), span(5, noon.Add(time.Minute))),
			[]string{"transition acme 2026-03-14: from_status=MISSED to_status=MISSED place=0 attempt=0 reason=JOB_PAUSED range_count=5"}},
		{"a range that is written as it was tells nothing", told(1, span(3, noon), span(3, noon)), nil},
	} {
		t.Run(c.name, c.check)
	}
}

func TestOtherRecords(t *testing.T) {
	for _, c := range []reading{
		{"an audit entry tells who did what", audited(7, "acme/x", "pause"),
			[]string{"audit acme 2026-03-14: job=x at=2026-03-14T12:00:07.000Z verb=pause actor=ada epoch=7 revision=2"}},
		{"an audit entry about an execution names it, and the person's note", auditedOf(7, "acme/x", "replay", "x~20260314T110000Z~v2", "mended"),
			[]string{"audit acme 2026-03-14: job=x at=2026-03-14T12:00:07.000Z verb=replay actor=ada epoch=7 revision=2 execution=x~20260314T110000Z~v2 note=mended"}},
		{"an audit entry that is removed tells nothing again", told(1, audited(7, "acme/x", "pause").Change.NewImage, nil), nil},
		{"another item of the control table tells nothing", told(1, nil, item{"pk": text("TICK#20260314T1200Z"), "sk": text("-"), "token": text("t")}), nil},
		{"an entry that this build does not know is kept as it came", told(1, running, unknown),
			[]string{"unread acme 2026-03-14: item=acme/x 20260314T120000Z#s event=MODIFY why=its timeline has an entry that does not read"}},
		{"what follows an unknown entry reads again", told(1, unknown, stored("acme/x", dueAtNoon, "RUNNING", made, newFound, begun)),
			[]string{"transition acme 2026-03-14: from_status=HALTED to_status=RUNNING place=2 attempt=1 reason=CLAIMED actor=w"}},
		{"an execution of an unknown kind is kept as it came", told(1, nil, stored("acme/x", "20260314T120000Z#q", "SCHEDULED", made)),
			[]string{"unread acme 2026-03-14: item=acme/x 20260314T120000Z#q event=INSERT why=key: \\\"20260314T120000Z#q\\\" is not an execution key"}},
		{"an attribute that does not decode is kept as it came", told(1, running, waiting.with("cancel", text("{"))),
			[]string{"unread acme 2026-03-14: item=acme/x 20260314T120000Z#s event=MODIFY why="}},
		{"an audit entry without a verb is kept as it came", told(1, nil, item{"pk": text("AUDIT#acme/x"), "sk": text("1#1")}),
			[]string{"unread acme 2026-03-14: item=AUDIT#acme/x 1#1 event=INSERT why=item \\\"AUDIT#acme/x\\\" is no audit entry"}},
		{"a tenant that cannot stand in a name is in none", told(1, nil, stored("../Ä/x", dueAtNoon, "SCHEDULED", made)),
			[]string{"transition _ 2026-03-14: to_status=SCHEDULED place=0 attempt=0 reason=MATERIALISED"}},
		{"a time of a broken clock does not hide its row", told(1, nil, stored("acme/x", dueAtNoon, "SCHEDULED", entry(time.Unix(0, 0), "s", 0, "MATERIALISED||"))),
			[]string{"transition acme 2026-03-14: to_status=SCHEDULED place=0 attempt=0 reason=MATERIALISED"}},
		{"a record that a person read from the stream has no time of the service's", func() events.DynamoDBEventRecord {
			r := told(1, nil, stored("acme/x", dueAtNoon, "SCHEDULED", made))
			r.Change.ApproximateCreationDateTime = events.SecondsEpochTime{}
			return r
		}(), []string{"transition acme 2026-03-14: to_status=SCHEDULED place=0 attempt=0 reason=MATERIALISED"}},
		{"a record without images tells nothing", events.DynamoDBEventRecord{EventID: "e"}, nil},
	} {
		t.Run(c.name, c.check)
	}
}

func TestARowSaysWhatTheExecutionWas(t *testing.T) {
	rows := archive.Rows(batch(life(1, "acme/nightly")))
	want := `{"id":"event0002.0","schema":1,"tenant":"acme","job":"nightly","execution":"nightly~20260314T120000Z~v3","execution_kind":"scheduled",` +
		`"scheduled_at":"2026-03-14T12:00:00.000Z","revision":3,"epoch":5,"pool":"fast-io","type":"report","target":"webhook","place":1,"at":"2026-03-14T12:00:00.012Z",` +
		`"from_status":"SCHEDULED","to_status":"RUNNING","attempt":1,"token":1,"reason":"CLAIMED","actor":"worker-1"}`
	if len(rows) != 3 || string(rows[1].Line) != want {
		t.Errorf("%d rows, the second is\n%s\nwant 3 and\n%s", len(rows), rows[1].Line, want)
	}
}

func TestARecordThatDoesNotReadIsKeptWholeUpToABound(t *testing.T) {
	image := func(size int) events.DynamoDBEventRecord {
		return told(1, nil, stored("acme/x", "20260314T120000Z#q", "SCHEDULED", entry(noon, "s", 0, "MATERIALISED||")).with("payload", text(strings.Repeat("ü", size/2))))
	}
	for name, c := range map[string]struct {
		size int
		kept bool
	}{"the largest item that a table takes": {400 << 10, true}, "one that a row cannot hold": {1 << 20, false}} {
		t.Run(name, func(t *testing.T) {
			rows := archive.Rows(events.DynamoDBEvent{Records: []events.DynamoDBEventRecord{image(c.size)}})
			var row struct {
				ID    string `json:"id"`
				After string `json:"after"`
				Bytes int    `json:"left_out_bytes"`
			}
			if len(rows) != 1 || json.Unmarshal(rows[0].Line, &row) != nil || row.ID != "event0001.0" {
				t.Fatalf("rows are %d, the first tells %+v", len(rows), row)
			}
			if kept := strings.Count(row.After, "ü") == c.size/2; kept != c.kept || (row.Bytes > c.size) == c.kept || len(rows[0].Line) > 1<<20 {
				t.Errorf("kept %v with %d bytes left out in a line of %d", kept, row.Bytes, len(rows[0].Line))
			}
		})
	}
}

func TestAValueThatNoItemCanHaveStaysWithItsRecord(t *testing.T) {
	broken := told(1, nil, stored("acme/x", dueAtNoon, "SCHEDULED", entry(noon, "s", 0, "MATERIALISED||")).with("status", events.DynamoDBAttributeValue{}))
	rows := archive.Rows(events.DynamoDBEvent{Records: append([]events.DynamoDBEventRecord{broken}, life(2, "acme/y")...)})
	if len(rows) != 4 || rows[0].Kind != archive.Unread && rows[0].Kind != archive.Transition {
		t.Errorf("%d rows, want one of the broken record and 3 of the other", len(rows))
	}
}
