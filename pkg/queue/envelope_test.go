package queue_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/queue"
)

func TestEnvelopeSaysWhatTheParcelSaid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "second"), 0).UTC()
		key := job.ScheduledKey(at)
		if rapid.Bool().Draw(t, "manual") {
			serial := ulid.ULID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "serial"))
			if err := serial.SetTime(ulid.Timestamp(at)); err != nil {
				t.Fatal(err)
			}
			key = job.SerialKey(job.KindManual, serial)
		}
		p := job.Parcel{Ref: job.Ref{Tenant: rapid.StringMatching(job.NamePattern).Draw(t, "tenant"), Job: rapid.StringMatching(job.NamePattern).Draw(t, "job")},
			Key: key, Epoch: rapid.Int64Range(0, 1<<62).Draw(t, "epoch"), RestoreEpoch: rapid.Int64Range(0, 1<<20).Draw(t, "restore"),
			NotBefore: at.Add(time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "nanoseconds")))}
		got, err := queue.Open(queue.Seal(p))
		if err != nil {
			t.Fatal(err)
		}
		m := got.Message
		if m.Ref != p.Ref || m.Key != p.Key || m.Epoch != p.Epoch || m.RestoreEpoch != p.RestoreEpoch || !got.NotBefore.Equal(p.NotBefore) {
			t.Fatalf("sealed %+v, opened %+v", p, got)
		}
	})
}

func TestOpenRefusesWhatIsNotAPointer(t *testing.T) {
	const good = `{"schema":1,"tenant":"default","job":"nightly","key":"20260712T013000Z#s","epoch":3}`
	rows := map[string]struct {
		body string
		want string // "" = opened, "newer", or a part of the refusal
	}{
		"a pointer is opened":                      {good, ""},
		"unknown fields are passed over":           {strings.Replace(good, `{`, `{"colour":"red",`, 1), ""},
		"no epoch is epoch 0":                      {strings.Replace(good, `,"epoch":3`, ``, 1), ""},
		"a newer schema is newer":                  {strings.Replace(good, `"schema":1`, `"schema":2`, 1), "newer"},
		"a newer schema is newer whatever follows": {`{"schema":9,"tenant":["a"],"key":7}`, "newer"},
		"no schema":                                {strings.Replace(good, `"schema":1,`, ``, 1), "no schema"},
		"schema 0":                                 {strings.Replace(good, `"schema":1`, `"schema":0`, 1), "no schema"},
		"empty":                                    {``, "not a JSON object"},
		"text":                                     {`hello`, "not a JSON object"},
		"a list":                                   {`[1]`, "not a JSON object"},
		"something after the object":               {good + good, "not a JSON object"},
		"a tenant that is no name":                 {strings.Replace(good, `default`, `de/fault`, 1), "no name"},
		"no job":                                   {strings.Replace(good, `nightly`, ``, 1), "no name"},
		"no key":                                   {strings.Replace(good, `20260712T013000Z#s`, ``, 1), "key"},
		"the record of a range":                    {strings.Replace(good, `Z#s`, `Z#x`, 1), "key"},
		"a negative epoch":                         {strings.Replace(good, `3}`, `-3}`, 1), "negative"},
		"an epoch in words":                        {strings.Replace(good, `3}`, `"three"}`, 1), "epoch"},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			_, err := queue.Open(row.body)
			var bad *queue.MalformedError
			switch {
			case row.want == "" && err != nil:
				t.Fatal(err)
			case row.want == "newer" && !errors.Is(err, queue.ErrNewerSchema):
				t.Fatalf("got %v, want ErrNewerSchema", err)
			case row.want != "" && row.want != "newer" && (!errors.As(err, &bad) || !strings.Contains(bad.Why, row.want)):
				t.Fatalf("got %v, want a MalformedError about %q", err, row.want)
			}
		})
	}
}

func TestOpenNeverPanics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.OneOf(rapid.String(), rapid.StringMatching(`\{"schema":[0-3](,"(tenant|job|key|epoch)":("[a-z0-9#TZ]{0,20}"|[0-9-]{1,5}|null))*\}`)).Draw(t, "body")
		_, err := queue.Open(body)
		_, scanErr := queue.OpenScan(body)
		_, tickErr := queue.OpenTick(body)
		var bad *queue.MalformedError
		for _, err := range []error{err, scanErr, tickErr} {
			if err != nil && !errors.Is(err, queue.ErrNewerSchema) && !errors.As(err, &bad) {
				t.Fatalf("%q: %v is neither newer nor malformed", body, err)
			}
		}
	})
}
