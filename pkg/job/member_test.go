package job_test

import (
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestKeysOfFanOuts(t *testing.T) {
	ref := job.Ref{Tenant: "acme", Job: "nightly"}
	for sentence, row := range map[string]struct {
		key            job.Key
		text, id, lies string
	}{
		"the first child": {job.ChildKey(job.ScheduledKey(halfPastOne), 0), "20260712T013000Z#s#c#0000-0000", "nightly~20260712T013000Z~c-0-0~v3",
			"acme/nightly#20260712T013000Z#s#0000"},
		"one of the second page": {job.ChildKey(job.ScheduledKey(halfPastOne), 267), "20260712T013000Z#s#c#0001-0017", "nightly~20260712T013000Z~c-1-17~v3",
			"acme/nightly#20260712T013000Z#s#0001"},
		"the reduce execution": {job.ReduceKey(job.ScheduledKey(halfPastOne)), "20260712T013000Z#s#f", "nightly~20260712T013000Z~reduce~v3", "acme/nightly"},
	} {
		t.Run(sentence, func(t *testing.T) {
			if row.key.String() != row.text || job.ID("nightly", row.key, 3) != row.id || row.key.Partition(ref) != row.lies {
				t.Errorf("%s, %s in %s", row.key, job.ID("nightly", row.key, 3), row.key.Partition(ref))
			}
			if k, err := job.ParseKey(row.text); err != nil || k != row.key {
				t.Errorf("read back %+v, %v", k, err)
			}
			if name, k, revision, err := job.ParseID(row.id); err != nil || k != row.key || name != "nightly" || revision != 3 {
				t.Errorf("the id read back %+v, %v", k, err)
			}
		})
	}
}

func TestAKeyOfAFanOutReadsBackAndNamesItsParent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "at"), 0).UTC()
		parent := job.ScheduledKey(at)
		if rapid.Bool().Draw(t, "serial") {
			var serial ulid.ULID
			_ = serial.SetTime(ulid.Timestamp(at))
			_ = serial.SetEntropy(rapid.SliceOfN(rapid.Byte(), 10, 10).Draw(t, "entropy"))
			parent = job.SerialKey(rapid.SampledFrom([]job.Kind{job.KindManual, job.KindReplay}).Draw(t, "kind"), serial)
		}
		k := job.ReduceKey(parent)
		if n := rapid.IntRange(-1, job.MaxChildren-1).Draw(t, "n"); n >= 0 {
			if k = job.ChildKey(parent, n); k.Number() != n {
				t.Fatalf("child %d says it is %d", n, k.Number())
			}
		}
		if k.Parent() != parent || k.FansOut() {
			t.Fatalf("%s comes of %s", k, k.Parent())
		}
		if back, err := job.ParseKey(k.String()); err != nil || back != k {
			t.Fatalf("%s reads back as %+v, %v", k, back, err)
		}
		if _, back, _, err := job.ParseID(job.ID("nightly", k, 7)); err != nil || back != k {
			t.Fatalf("%s reads back as %+v, %v", job.ID("nightly", k, 7), back, err)
		}
	})
}

func TestWhatIsNoKeyOfAFanOut(t *testing.T) {
	for _, text := range []string{"20260712T013000Z#x#c#0000-0000", "20260712T013000Z#s#c#0-0", "20260712T013000Z#s#c#0000-0250", "20260712T013000Z#s#c#0400-0000",
		"20260712T013000Z#s#c", "20260712T013000Z#s#f#f", "20260712T013000Z#s#f#c#0000-0000", "20260712T013000Z#s#c#0000-0000#f", "20260712T013000Z#s#c#0000-0000-0"} {
		if k, err := job.ParseKey(text); err == nil {
			t.Errorf("%q is taken for %+v", text, k)
		}
	}
	for _, id := range []string{"nightly~20260712T013000Z~c-0-250~v3", "nightly~20260712T013000Z~c-00-1~v3", "nightly~20260712T013000Z~c-1~v3", "nightly~20260712T013000Z~~v3",
		"nightly~x-20260712T013000Z~reduce~v3", "nightly~20260712T013000Z~reduce~c-0-0~v3"} {
		if _, k, _, err := job.ParseID(id); err == nil {
			t.Errorf("%q is taken for %+v", id, k)
		}
	}
}
