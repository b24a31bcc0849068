package job_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

const serial = "01J2K3M4N5P6Q7R8S9T0V1W2X3"

// halfPastOne is the second that most keys here carry.
var halfPastOne = time.Date(2026, 7, 12, 1, 30, 0, 0, time.UTC)

// someKey draws a key of any kind.
func someKey(t *rapid.T, label string) job.Key {
	at := time.Unix(rapid.Int64Range(0, 253402300799).Draw(t, label+" second"), rapid.Int64Range(0, 999_999_999).Draw(t, label+" fraction"))
	switch kind := rapid.SampledFrom([]job.Kind{job.KindScheduled, job.KindRange, job.KindManual, job.KindReplay}).Draw(t, label+" kind"); kind {
	case job.KindChild, job.KindReduce: // in member_test.go
	case job.KindScheduled:
		return job.ScheduledKey(at)
	case job.KindRange:
		return job.RangeKey(at)
	case job.KindManual, job.KindReplay:
		var u ulid.ULID
		copy(u[6:], rapid.SliceOfN(rapid.Byte(), 10, 10).Draw(t, label+" entropy"))
		_ = u.SetTime(ulid.Timestamp(at)) // in range: the year has four digits
		return job.SerialKey(kind, u)
	}
	return job.Key{}
}

func TestEveryKeyAndIDReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := someKey(t, "key")
		back, err := job.ParseKey(k.String())
		if err != nil || back != k {
			t.Fatalf("%q reads as %+v, %v; want %+v", k, back, err, k)
		}
		name := rapid.StringMatching(job.NamePattern).Draw(t, "job")
		revision := rapid.IntRange(1, 1<<31-1).Draw(t, "revision")
		id := job.ID(name, k, revision)
		gotName, gotKey, gotRevision, err := job.ParseID(id)
		if err != nil || gotName != name || gotKey != k || gotRevision != revision {
			t.Fatalf("%q reads as %q %+v %d, %v", id, gotName, gotKey, gotRevision, err)
		}
	})
}

func TestTheOrderOfKeysIsTheOrderOfTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := someKey(t, "a"), someKey(t, "b")
		if a.ScheduledAt.Before(b.ScheduledAt) && a.String() >= b.String() {
			t.Fatalf("%s is before %s, but its text is not", a, b)
		}
	})
}

func TestTwoKeysNeverShareAText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := someKey(t, "a"), someKey(t, "b")
		if rapid.Bool().Draw(t, "same second") && a.Serial == "" && b.Serial == "" {
			b.ScheduledAt = a.ScheduledAt
		}
		if (a == b) != (a.String() == b.String()) || (a == b) != (job.ID("j", a, 1) == job.ID("j", b, 1)) {
			t.Fatalf("%+v and %+v: %s %s", a, b, a, b)
		}
	})
}

func TestIDsShowWhatTheyName(t *testing.T) {
	u := ulid.MustParse(serial)
	for name, row := range map[string]struct {
		key       job.Key
		text, id  string
		idempoten string
		outside   bool
	}{
		"a scheduled time": {job.ScheduledKey(halfPastOne.Add(900 * time.Millisecond)), "20260712T013000Z#s", "nightly~20260712T013000Z~v3", "acme/nightly~20260712T013000Z", false},
		"a scheduled time given in another zone": {job.ScheduledKey(halfPastOne.In(time.FixedZone("", 3600))), "20260712T013000Z#s",
			"nightly~20260712T013000Z~v3", "acme/nightly~20260712T013000Z", false},
		"a manual run":          {job.SerialKey(job.KindManual, u), "20240712T091542Z#m#" + serial, "nightly~m-" + serial + "~v3", "acme/nightly~m-" + serial, true},
		"a replay":              {job.SerialKey(job.KindReplay, u), "20240712T091542Z#r#" + serial, "nightly~r-" + serial + "~v3", "acme/nightly~r-" + serial, true},
		"the record of a range": {job.RangeKey(halfPastOne), "20260712T013000Z#x", "nightly~x-20260712T013000Z~v3", "acme/nightly~x-20260712T013000Z", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := row.key.String(); got != row.text {
				t.Errorf("key %q, want %q", got, row.text)
			}
			if got := job.ID("nightly", row.key, 3); got != row.id {
				t.Errorf("id %q, want %q", got, row.id)
			}
			if got := job.IdempotencyKey(job.Ref{Tenant: "acme", Job: "nightly"}, row.key); got != row.idempoten {
				t.Errorf("idempotency key %q, want %q: without the revision, which an edit changes", got, row.idempoten)
			}
			if row.key.Outside() != row.outside {
				t.Errorf("outside the cursor: %v, want %v", row.key.Outside(), row.outside)
			}
		})
	}
	e := &job.Execution{Ref: job.Ref{Tenant: "acme", Job: "nightly"}, Key: job.ScheduledKey(halfPastOne), Revision: 4}
	if e.ID() != "nightly~20260712T013000Z~v4" {
		t.Errorf("an execution's id is %q", e.ID())
	}
}

func TestWhatIsNoKeyIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                            "",
		"a time alone":                       "20260712T013000Z",
		"a kind that does not exist":         "20260712T013000Z#q",
		"a fraction of a second":             "20260712T013000.5Z#s",
		"a fraction after a comma":           "20260712T013000,5Z#s",
		"a month that does not exist":        "20261312T013000Z#s",
		"a leap second":                      "20260712T013060Z#s",
		"a serial on a scheduled time":       "20260712T013000Z#s#" + serial,
		"a manual run without a serial":      "20260712T013000Z#m",
		"a serial of another second":         "20260712T013000Z#m#" + serial,
		"a serial in small letters":          "20240712T091542Z#m#" + strings.ToLower(serial),
		"a serial of the wrong length":       "20240712T091542Z#m#" + serial[1:],
		"a serial beyond the year 9999":      "108890802T053150Z#m#7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
		"the history of an execution":        "20260712T013000Z#s#H#00001",
		"a separator too many":               "20260712T013000Z#s#",
		"a time of the wrong width":          "2026712T013000Z#s",
		"letters where digits belong":        "2026O712T013000Z#s",
		"a line break behind it":             "20260712T013000Z#s\n",
		"a kilobyte of separators":           strings.Repeat("#", 1024),
		"bytes that are no text":             "\xff\xfe#s",
		"another zone than UTC":              "20260712T013000+0100#s",
		"the id instead of the key":          "nightly~20260712T013000Z~v3",
		"a key with a space in front of it":  " 20260712T013000Z#s",
		"a kind with a capital letter":       "20260712T013000Z#S",
		"a range with a serial":              "20260712T013000Z#x#" + serial,
		"a manual run with two serials":      "20240712T091542Z#m#" + serial + "#" + serial,
		"a manual run with an empty serial":  "20240712T091542Z#m#",
		"a time with a year of five figures": "120260712T013000Z#s",
	} {
		t.Run(name, func(t *testing.T) {
			k, err := job.ParseKey(text)
			if job.CodeOf(err) != job.CodeInvalid || k != (job.Key{}) {
				t.Errorf("ParseKey(%q) = %+v, %v; want a refusal", text, k, err)
			}
		})
	}
}

func TestWhatIsNoIDIsRefused(t *testing.T) {
	for name, row := range map[string]struct{ id, why string }{
		"nothing":                        {"", "three parts"},
		"a key instead of an id":         {"20260712T013000Z#s", "three parts"},
		"a part too many":                {"a~20260712T013000Z~v3~x", "three parts"},
		"a job name that is none":        {"Nightly~20260712T013000Z~v3", "job name"},
		"a job name with a path":         {"../nightly~20260712T013000Z~v3", "job name"},
		"no revision":                    {"nightly~20260712T013000Z~v", "revision"},
		"revision zero":                  {"nightly~20260712T013000Z~v0", "revision"},
		"a negative revision":            {"nightly~20260712T013000Z~v-1", "revision"},
		"a revision with a sign":         {"nightly~20260712T013000Z~v+3", "revision"},
		"a revision with a leading zero": {"nightly~20260712T013000Z~v03", "revision"},
		"a revision without its v":       {"nightly~20260712T013000Z~3", "revision"},
		"a revision beyond integers":     {"nightly~20260712T013000Z~v99999999999999999999", "revision"},
		"a fraction of a second":         {"nightly~20260712T013000.25Z~v3", "middle"},
		"a serial without its kind":      {"nightly~" + serial + "~v3", "middle"},
		"a serial of a scheduled kind":   {"nightly~s-" + serial + "~v3", "middle"},
		"a serial in small letters":      {"nightly~m-" + strings.ToLower(serial) + "~v3", "middle"},
		"a serial that overflows":        {"nightly~m-8ZZZZZZZZZZZZZZZZZZZZZZZZZ~v3", "middle"},
		"a serial beyond the year 9999":  {"nightly~m-7ZZZZZZZZZZZZZZZZZZZZZZZZZ~v3", "middle"},
		"a range with half a time":       {"nightly~x-20260712~v3", "middle"},
		"a line break in the middle":     {"nightly~20260712T\n013000Z~v3", "middle"},
		"a hostile kilobyte":             {"nightly~" + strings.Repeat("m-", 512) + "~v3", "middle"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, _, err := job.ParseID(row.id)
			var refusal *job.Error
			if !errors.As(err, &refusal) || refusal.Code != job.CodeInvalid || refusal.Field != "id" {
				t.Fatalf("ParseID(%q) gives %v; want a refusal of the id", row.id, err)
			}
			if !strings.Contains(refusal.Message, row.why) || len(refusal.Error()) > 600 || strings.Contains(refusal.Error(), "\n") {
				t.Errorf("the refusal should speak of the %s, in one bounded line: %q", row.why, refusal)
			}
		})
	}
}

func FuzzParseID(f *testing.F) {
	f.Add("nightly~20260712T013000Z~v3")
	f.Add("nightly~m-" + serial + "~v1")
	f.Add("nightly~x-20260712T013000.5Z~v1")
	f.Fuzz(func(t *testing.T, id string) {
		name, k, revision, err := job.ParseID(id)
		if err != nil {
			return
		}
		if again := job.ID(name, k, revision); again != id {
			t.Fatalf("%q is read, but written as %q", id, again)
		}
		if back, err := job.ParseKey(k.String()); err != nil || back != k {
			t.Fatalf("%q carries key %+v, which does not read back: %v", id, k, err)
		}
	})
}

func FuzzParseKey(f *testing.F) {
	f.Add("20260712T013000Z#s")
	f.Add("20240712T091542Z#m#" + serial)
	f.Add("20260712T013000.5Z#x")
	f.Fuzz(func(t *testing.T, text string) {
		k, err := job.ParseKey(text)
		if err != nil {
			return
		}
		if k.String() != text {
			t.Fatalf("%q is read, but written as %q", text, k)
		}
		if _, back, _, err := job.ParseID(job.ID("j", k, 1)); err != nil || back != k {
			t.Fatalf("%q makes an id that does not read back: %+v, %v", text, back, err)
		}
	})
}
