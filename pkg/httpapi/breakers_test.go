package httpapi

import (
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

func TestBreakersAreListedAndClosed(t *testing.T) {
	w := newWorld(t)
	const host = "https://api.example.com:443"
	tables := w.service.Lists.(*store.Store)
	var b *job.Breaker
	var err error
	for _, name := range []string{"c", "a", "b"} {
		b, err = tables.NoteFailure(t.Context(), job.BreakerFailure{Ref: job.Ref{Tenant: job.DefaultTenant, Job: name}, Resource: host, At: noon, Code: "HTTP_503", Within: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
	}
	if all := decode[client.Page[client.Breaker]](t, w.ask("GET", "/v1/breakers", "")); len(all.Items) != 0 {
		t.Errorf("closed breakers are listed: %+v", all.Items)
	}
	if _, err := tables.OpenBreaker(t.Context(), b, job.BreakerOpening{At: noon, Until: noon.Add(time.Minute), Wait: time.Minute, Code: "HTTP_503"}); err != nil {
		t.Fatal(err)
	}
	all := decode[client.Page[client.Breaker]](t, w.ask("GET", "/v1/breakers", ""))
	if len(all.Items) != 1 {
		t.Fatalf("listed are %+v", all.Items)
	}
	got := all.Items[0]
	if got.Resource != host || got.State != "OPEN" || !got.Since.Equal(noon.Truncate(time.Millisecond)) || !got.Until.Equal(noon.Add(time.Minute).Truncate(time.Millisecond)) ||
		got.ErrorCode != "HTTP_503" || got.Failures != 3 || strings.Join(got.Jobs, "") != "abc" || !got.EveryJob {
		t.Errorf("it is %+v", got)
	}
	for range 2 {
		closed := decode[client.Breaker](t, w.ask("POST", "/v1/breakers/close", `{"resource":"`+host+`","note":"mended"}`))
		if closed.State != "CLOSED" || closed.Failures != 0 || closed.EveryJob || !closed.Until.IsZero() {
			t.Errorf("closed it is %+v", closed)
		}
	}
	if answer := w.ask("POST", "/v1/breakers/close", `{"resource":"https://nowhere:443"}`); answer.Code != 404 {
		t.Errorf("closing an unknown one answers %d", answer.Code)
	}
}
