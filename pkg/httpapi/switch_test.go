package httpapi

import (
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// A definition that waits is read with its job, and whoever puts or takes it back
// is told.
func TestADefinitionThatWaitsCanBeRead(t *testing.T) {
	w := newWorld(t).with(t, "nightly", nightlyJob)
	later := noon.Add(48 * time.Hour).Truncate(time.Second)
	put := decode[client.PutResult](t, w.ask("PATCH", "/v1/jobs/nightly?effective_at="+later.Format(time.RFC3339), `{"schedule":{"cron":"0 5 * * *"}}`))
	if !put.SwitchAt.Equal(later) || !put.TakenBackAt.IsZero() || len(put.Appear) == 0 || len(put.Vanish) == 0 || !put.Appear[0].After(later) {
		t.Errorf("got %+v", put)
	}
	read := decode[client.Job](t, w.ask("GET", "/v1/jobs/nightly", ""))
	if !read.SwitchAt.Equal(later) || read.Waiting == nil || read.Waiting.Schedule.Cron != "0 5 * * *" || read.Definition.Schedule.Cron != "30 3 * * *" {
		t.Errorf("got %+v", read)
	}
	back := decode[client.PutResult](t, w.ask("PUT", "/v1/jobs/nightly", nightlyJob))
	if back.Action != "updated" || !back.SwitchAt.IsZero() || !back.TakenBackAt.Equal(later) {
		t.Errorf("got %+v", back)
	}
	if read := decode[client.Job](t, w.ask("GET", "/v1/jobs/nightly", "")); read.Waiting != nil || !read.SwitchAt.IsZero() {
		t.Errorf("got %+v", read)
	}
}

// What a job shows as its next time is the next one, also where that is one of the
// definition that waits, which comes before the next one that it has now.
func TestTheNextTimeIsThatOfTheDefinitionThatWaitsWhereThatComesFirst(t *testing.T) {
	w := newWorld(t).with(t, "yearly", `{"schedule":{"cron":"0 0 1 1 *","zone":"UTC"},"target":{"log":{}}}`)
	later := noon.Add(time.Hour).Truncate(time.Second)
	put := decode[client.PutResult](t, w.ask("PATCH", "/v1/jobs/yearly?effective_at="+later.Format(time.RFC3339), `{"schedule":{"cron":"30 * * * *"}}`))
	first := later.Add(30 * time.Minute)
	read := decode[client.Job](t, w.ask("GET", "/v1/jobs/yearly", ""))
	listed := decode[client.Page[client.Job]](t, w.ask("GET", "/v1/jobs", ""))
	fires := decode[client.Fires](t, w.ask("GET", "/v1/jobs/yearly/next?count=1", ""))
	for name, at := range map[string]client.Time{"the put": put.NextFireAt, "the job": read.NextFireAt, "the list": listed.Items[0].NextFireAt, "the preview": fires.Items[0].At} {
		if !at.Equal(first) {
			t.Errorf("%s tells %s, not %s", name, at, first)
		}
	}
	if want := "; after " + later.Format(time.RFC3339) + ": "; !strings.Contains(fires.Description, want) {
		t.Errorf("it says %q", fires.Description)
	}
}

func TestANewJobCannotTakeEffectLater(t *testing.T) {
	w := newWorld(t)
	p := problemOf(t, w.ask("PUT", "/v1/jobs/nightly?effective_at=2026-07-13T00:00:00Z", nightlyJob))
	if p.Code != job.CodeInvalid || p.Field != "effective_at" || p.Fix == "" || w.epoch(t, "nightly") != 0 {
		t.Errorf("got %+v", p)
	}
}

// Some minutes ahead a scan makes the switch-over. Until its moment the job tells when
// that is, and its next time is one of the revision before.
func TestAJobWhoseSwitchOverIsMadeTellsTheTimesThatStillCome(t *testing.T) {
	w := newWorld(t).with(t, "often", `{"schedule":{"every":"40s"},"target":{"log":{}}}`)
	soon := noon.Add(100 * time.Second).Truncate(time.Second)
	if answer := w.ask("PATCH", "/v1/jobs/often?effective_at="+soon.Format(time.RFC3339), `{"schedule":{"every":"7s"}}`); answer.Code != 200 {
		t.Fatal(answer.Body)
	}
	read := decode[client.Job](t, w.ask("GET", "/v1/jobs/often", ""))
	if read.Revision != 3 || read.Schedule.Every.String() != "7s" || !read.SwitchAt.Equal(soon) || !read.NextFireAt.Equal(noon.Truncate(time.Second).Add(40*time.Second)) {
		t.Errorf("got %+v", read)
	}
}
