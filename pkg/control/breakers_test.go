package control_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// trip notes a failure at a resource and opens its breaker for so long.
func (d *desk) trip(resource string, wait time.Duration) *job.Breaker {
	d.Helper()
	now := time.Now()
	b, err := d.belfry.Store.NoteFailure(d.Context(), job.BreakerFailure{Ref: d.ref, Resource: resource, At: now, Code: "HTTP_503", Within: time.Minute})
	d.must(err)
	if wait > 0 {
		b, err = d.belfry.Store.OpenBreaker(d.Context(), b, job.BreakerOpening{At: now, Until: now.Add(wait), Wait: wait, Code: "HTTP_503"})
		d.must(err)
	}
	return b
}

func TestOpenBreakersAreListedAndClosedOnesAreNot(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.trip("fine", 0)
		d.trip("half", time.Second)
		d.trip("open", time.Hour)
		time.Sleep(2 * time.Second)
		var names []string
		for cursor := ""; ; {
			page, next, err := d.OpenBreakers(d.Context(), d.ref.Tenant, cursor, 1)
			d.must(err)
			for _, b := range page {
				names = append(names, b.Resource+" "+string(b.State(time.Now())))
			}
			if cursor = next; next == "" {
				break
			}
		}
		if want := []string{"half HALF_OPEN", "open OPEN"}; !slices.Equal(names, want) {
			t.Errorf("listed are %v, want %v", names, want)
		}
		if page, _, err := d.OpenBreakers(d.Context(), "other", "", 10); err != nil || len(page) != 0 {
			t.Errorf("another tenant sees %v, %v", page, err)
		}
	})
}

func TestABreakerIsClosedByHandOnce(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.trip("db", time.Hour)
		closed := func(tenant, resource, note string) (*job.Breaker, error) {
			return d.CloseBreaker(d.Context(), control.BreakerRequest{Tenant: tenant, Resource: resource, Note: note, Actor: "ada"})
		}
		for says, row := range map[string]struct {
			tenant, resource, note string
			code                   job.Code
		}{
			"one of which nothing is known": {d.ref.Tenant, "bd", "", job.CodeNotFound},
			"another tenant's":              {"other", "db", "", job.CodeNotFound},
			"with a note that is no text":   {d.ref.Tenant, "db", "\xff", job.CodeInvalid},
		} {
			if _, err := closed(row.tenant, row.resource, row.note); job.CodeOf(err) != row.code {
				t.Errorf("%s: %v, want %s", says, err, row.code)
			}
		}
		d.written()
		for range 2 { // the second changes nothing
			b, err := closed(d.ref.Tenant, "db", "mended")
			stored, readErr := d.belfry.Store.Breaker(d.Context(), d.ref.Tenant, "db")
			d.must(readErr)
			if err != nil || b.State(time.Now()) != job.BreakerClosed || fmt.Sprint(b.Turn, b.Failures, b.Jobs, b.Until.IsZero()) != fmt.Sprint(stored.Turn, stored.Failures, stored.Jobs, true) {
				t.Fatalf("closed is %+v, %v; stored is %+v", b, err, stored)
			}
		}
		if writes := d.written(); !slices.Equal(writes, []string{"TransactWriteItems"}) {
			t.Errorf("the writes were %v, want one", writes)
		}
		d.ref.Job = "breaker:db"
		if lines := d.audit(); !slices.Equal(lines, []string{"breaker-close ada 1"}) {
			t.Errorf("audited is %v", lines)
		}
	})
}
