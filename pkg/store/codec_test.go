package store

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

var millisecond = rapid.Custom(func(t *rapid.T) time.Time {
	return time.UnixMilli(rapid.Int64Range(0, 4_000_000_000_000).Draw(t, "ms")).UTC()
})

var second = rapid.Custom(func(t *rapid.T) time.Time {
	return time.Unix(rapid.Int64Range(1, 4_000_000_000).Draw(t, "s"), 0).UTC()
})

var entries = rapid.Custom(func(t *rapid.T) job.Entry {
	return job.Entry{At: millisecond.Draw(t, "at"), To: rapid.SampledFrom(lifecycle.Statuses).Draw(t, "to"), Attempt: rapid.IntRange(0, 1<<20).Draw(t, "attempt"),
		Token: rapid.Int64Range(0, 1<<50).Draw(t, "token"), Reason: rapid.SampledFrom(lifecycle.Reasons).Draw(t, "reason"),
		Actor: rapid.StringMatching(`[a-z0-9-]{0,20}`).Draw(t, "actor"), ErrorCode: rapid.StringMatching(`[A-Z_0-9]{0,20}`).Draw(t, "code")}
})

func TestATimelineEntrySurvivesItsEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := entries.Draw(t, "entry")
		if got, ok := decodeEntry(encodeEntry(want)); !ok || got != want {
			t.Fatalf("%+v became %+v", want, got)
		}
	})
}

// Whatever a person or a handler puts into an entry, it still decodes, and to the
// same status, attempt and token.
func TestAnEntryWithAnyTextDecodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := entries.Draw(t, "entry")
		e.Actor, e.ErrorCode = rapid.String().Draw(t, "actor"), rapid.String().Draw(t, "code")
		if got, ok := decodeEntry(encodeEntry(e)); !ok || got.To != e.To || got.Attempt != e.Attempt || got.Token != e.Token {
			t.Fatalf("%+v became %+v", e, got)
		}
	})
}

// A settle keeps the timeline within its bound: the first two entries and the
// last always stay, in order, and every one that does not is counted.
func TestATrimmedTimelineIsWithinItsBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.SliceOfN(entries, 2, 60).Draw(t, "before")
		last := entries.Draw(t, "last")
		encoded, dropped := trimmed(before, last)
		size := 0
		for _, e := range encoded {
			size += len(e) + 1
		}
		if size > timelineBound && len(encoded) > 3 {
			t.Fatalf("%d bytes in %d entries", size, len(encoded))
		}
		if len(encoded)+dropped != len(before)+1 {
			t.Fatalf("%d kept and %d dropped of %d", len(encoded), dropped, len(before)+1)
		}
		all := append(append([]job.Entry{}, before...), last)
		kept := decodeTimeline(encoded)
		want := append(append([]job.Entry{}, all[:2]...), all[2+dropped:]...)
		if !reflect.DeepEqual(kept, want) {
			t.Fatalf("kept %v\nwant %v", kept, want)
		}
	})
}

var heads = rapid.Custom(func(t *rapid.T) job.Head {
	h := job.Head{Ref: job.Ref{Tenant: "default", Job: "nightly"}, State: rapid.SampledFrom(lifecycle.States).Draw(t, "state"), Revision: rapid.IntRange(1, 1<<20).Draw(t, "revision"),
		Epoch: rapid.Int64Range(1, 1<<50).Draw(t, "epoch"), RunsFrom: rapid.Int64Range(0, 1<<50).Draw(t, "runs from"),
		Schedule: job.Schedule{Every: job.Duration(time.Duration(rapid.IntRange(1, 1<<20).Draw(t, "every")) * time.Second)}, Anchor: second.Draw(t, "anchor"),
		Misfire: job.Misfire{Policy: job.MisfireFireOnce, Max: rapid.IntRange(0, 9).Draw(t, "max")}, Pool: "fast-io", Type: rapid.SampledFrom([]string{"", "report"}).Draw(t, "type"),
		Target: rapid.SampledFrom(append([]string{""}, job.TargetKinds...)).Draw(t, "target"), CreatedAt: millisecond.Draw(t, "created"),
		UpdatedAt: millisecond.Draw(t, "updated"), ChangedBy: rapid.StringMatching(`[a-z]{1,9}`).Draw(t, "by"), Reason: rapid.SampledFrom(lifecycle.Reasons).Draw(t, "reason"),
		LastScheduled: second.Draw(t, "last"), SettledUpto: second.Draw(t, "settled"), Advances: rapid.Int64Range(0, 1<<40).Draw(t, "advances"),
		Suspend: rapid.IntRange(0, 9).Draw(t, "suspend"), SwitchAt: second.Draw(t, "switch"), SwitchedAt: second.Draw(t, "switched"), StoppedAt: millisecond.Draw(t, "stopped"), LostRevision: rapid.IntRange(0, 99).Draw(t, "lost revision"), Schema: job.Schema}
	if rapid.Bool().Draw(t, "due") {
		h.NextFireAt, h.DueShard = second.Draw(t, "next"), "1.0003"
	}
	if rapid.Bool().Draw(t, "planned") {
		h.Plan = &job.LatePlan{From: second.Draw(t, "from"), To: second.Draw(t, "to"), FireFrom: second.Draw(t, "fire"), Covers: second.Draw(t, "covers"),
			Missed: []job.LatePart{{From: second.Draw(t, "part"), To: second.Draw(t, "end"), Count: rapid.IntRange(1, 1<<30).Draw(t, "count"), Reason: lifecycle.Misfire}}}
	}
	if rapid.Bool().Draw(t, "passed over") {
		h.Gap = &job.Gap{From: second.Draw(t, "gap"), EffectiveAt: millisecond.Draw(t, "effective"), Revision: 1, Reason: lifecycle.JobPaused, Then: second.Draw(t, "then")}
	}
	return h
})

func TestAHeadSurvivesItsEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := heads.Draw(t, "head")
		stored := encodeHead(&want, text("1.0003")).set
		stored[PartitionKey], stored[SortKey] = text(want.Ref.String()), text(headKey)
		stored["of_a_newer_build"] = text("ignored")
		got, err := decodeHead(stored)
		if err != nil || !reflect.DeepEqual(*got, want) {
			t.Fatalf("%+v became %+v, %v", want, got, err)
		}
	})
}

func TestARevisionSurvivesItsEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := job.Definition{Job: "nightly", Schedule: job.Schedule{Cron: "0 12 * * *", Zone: "Europe/Berlin"}, Payload: []byte(`{"n":1}`),
			Labels: rapid.MapOfN(rapid.StringMatching(`[a-z]{1,5}`), rapid.String(), 1, 4).Draw(t, "labels"), Description: rapid.String().Draw(t, "description")}.WithDefaults()
		want := job.Revision{Ref: job.Ref{Tenant: "default", Job: "nightly"}, Number: rapid.IntRange(1, 2_000_000).Draw(t, "number"), Epoch: 3, Definition: d,
			Anchor: second.Draw(t, "anchor"), CreatedAt: millisecond.Draw(t, "created"), CreatedBy: "ada", TZDB: "2025b", CarryUntil: millisecond.Draw(t, "carry")}
		got, err := decodeRevision(encodeRevision(&want))
		if err != nil || !reflect.DeepEqual(*got, want) {
			t.Fatalf("%+v became %+v, %v", want, got, err)
		}
	})
}
