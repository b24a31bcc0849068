package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

const payloadJob = `{"schedule":{"cron":"30 3 * * *"},"target":{"log":{}},"payload":{"to": "the <bank>"}}`

var boom = lifecycle.Failure{Code: "PANIC", Text: "boom\n" + strings.Repeat("frame\n", 100)}

// failed makes a manual run of a job and ends it as a worker would; the stream
// consumer's list has it, too.
func (w *world) failed(t *testing.T, name string, to lifecycle.Transition) client.Execution {
	t.Helper()
	made := decode[client.Execution](t, w.ask("POST", "/v1/jobs/"+name+"/run", ""))
	_, key, _, err := job.ParseID(made.ID)
	if err != nil {
		t.Fatal(err)
	}
	tables, ref := w.service.Lists.(*store.Store), job.Ref{Tenant: job.DefaultTenant, Job: name}
	held, err := tables.Claim(t.Context(), job.ClaimRequest{Ref: ref, Key: key, Epoch: 1, Owner: "w", Nonce: "n", Now: noon, Until: noon.Add(time.Minute)})
	if err == nil {
		err = tables.Settle(t.Context(), held, to, time.Time{})
	}
	if err == nil {
		held, err = tables.Execution(t.Context(), ref, key)
	}
	if err == nil && lifecycle.Matters(held.Status) {
		err = tables.WriteAttention(t.Context(), held, noon)
	}
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (w *world) dead(t *testing.T, query string) client.Page[client.DeadLetter] {
	t.Helper()
	return decode[client.Page[client.DeadLetter]](t, w.ask("GET", "/v1/dead"+query, ""))
}

func TestADeadLetterKeepsWhatExplainsIt(t *testing.T) {
	w := newWorld(t).with(t, "nightly", payloadJob).with(t, "plain", nightlyJob)
	letter := w.failed(t, "nightly", lifecycle.GivenUp(noon, "w", lifecycle.AttemptsUsedUp, boom))
	bare := w.failed(t, "plain", lifecycle.FailedForGood(noon, "w", boom))
	fine := w.failed(t, "nightly", lifecycle.Settled(noon, "w"))
	// What handlers get are the stored bytes, in which JSON writes < and > as escapes.
	digest := sha256.Sum256([]byte(`{"to":"the \u003cbank\u003e"}`))
	want := client.Text(hex.EncodeToString(digest[:]))
	got := decode[client.Execution](t, w.ask("GET", "/v1/executions/"+letter.ID, ""))
	if got.InputDigest != want || got.Stack != client.Text(boom.Text) || got.ErrorCode != "PANIC" || got.Revision != 1 || len(got.ErrorText) != 240 {
		t.Errorf("it is %+v\nwant digest %s", got, want)
	}
	if got := decode[client.Execution](t, w.ask("GET", "/v1/executions/"+bare.ID, "")); got.InputDigest != "" || got.Stack == "" {
		t.Errorf("without a payload it is %+v", got)
	}
	if got := decode[client.Execution](t, w.ask("GET", "/v1/executions/"+fine.ID, "")); got.InputDigest != "" {
		t.Errorf("one that succeeded is %+v", got)
	}
	listed := decode[client.Page[client.Execution]](t, w.ask("GET", "/v1/jobs/nightly/executions?status=DEAD", ""))
	if len(listed.Items) != 1 || listed.Items[0].InputDigest != want || listed.Items[0].Stack != "" {
		t.Errorf("listed are %+v", listed.Items)
	}
	if all := w.dead(t, "?job=nightly"); len(all.Items) != 1 || all.Items[0].InputDigest != want || !all.Items[0].Open || all.Items[0].Stack != "" || !all.Items[0].Since.Equal(noon.Truncate(time.Millisecond)) {
		t.Errorf("dead letters are %+v", all.Items)
	}
}

func TestDeadLettersAreFilteredAndPaged(t *testing.T) {
	w := newWorld(t).with(t, "nightly", nightlyJob).with(t, "often", logJob)
	w.failed(t, "nightly", lifecycle.FailedForGood(noon, "w", lifecycle.Failure{Code: "HTTP_404"}))
	w.failed(t, "often", lifecycle.GivenUp(noon, "w", lifecycle.MaxAge, lifecycle.Failure{Code: "HTTP_503"}))
	w.failed(t, "often", lifecycle.LeftForReview(noon, "w", lifecycle.Failure{Code: "TIMEOUT"}))
	w.failed(t, "often", lifecycle.Settled(noon, "w"))
	for query, want := range map[string]int{"": 3, "?job=often": 2, "?code=HTTP_404&code=TIMEOUT": 2, "?status=DEAD": 1, "?status=DEAD&status=NEEDS_REVIEW": 2, "?type=billing": 0,
		"?since=2026-07-12T12:00:00Z": 3, "?since=2026-07-12T12:00:01Z": 0, "?until=2026-07-12T12:00:00Z": 0, "?until=2026-07-12T12:00:01Z&open=true": 3} {
		if got := w.dead(t, query); len(got.Items) != want {
			t.Errorf("with %q %d are listed, want %d", query, len(got.Items), want)
		}
	}
	var ids []string
	for path := "?limit=1"; ; {
		page := w.dead(t, path)
		for _, item := range page.Items {
			ids = append(ids, item.ID)
		}
		if page.NextCursor == "" {
			break
		}
		path = "?limit=1&cursor=" + string(page.NextCursor)
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != 3 {
		t.Errorf("page by page: %v", ids)
	}
	for query, field := range map[string]string{"?since=yesterday": "since", "?until=x": "until", "?status=SUCCEEDED": "status[0]", "?cursor=x": "cursor", "?colour=red": "colour"} {
		if p := problemOf(t, w.ask("GET", "/v1/dead"+query, "")); p.Field != field || p.Status != http.StatusUnprocessableEntity {
			t.Errorf("%q is refused as %+v", query, p)
		}
	}
}

func TestClosingADeadLetter(t *testing.T) {
	w := newWorld(t).with(t, "nightly", nightlyJob)
	letter := w.failed(t, "nightly", lifecycle.FailedForGood(noon, "w", boom))
	path := "/v1/dead/" + letter.ID + "/resolve"
	for range 2 {
		got := decode[client.Execution](t, w.ask("POST", path, `{"as":"handled","note":"by hand"}`))
		if got.Status != job.Failed || got.Resolution == nil || got.Resolution.As != "handled" || got.Resolution.By != "anonymous" || got.Resolution.Note != "by hand" || got.Resolution.At.IsZero() {
			t.Errorf("closed it is %+v", got)
		}
	}
	if open, all := w.dead(t, "?open=true"), w.dead(t, ""); len(open.Items) != 0 || len(all.Items) != 1 || all.Items[0].Open || all.Items[0].Resolution == nil {
		t.Errorf("open are %+v of %+v", open.Items, all.Items)
	}
	p := problemOf(t, w.ask("POST", path, `{"as":"ignored"}`))
	if p.Status != http.StatusConflict || p.Code != job.CodeStateConflict || p.Field != "resolution" || p.Value != "handled" || p.Fix == "" || !strings.Contains(p.Detail, "by anonymous at 2026-07-12T12:00:00Z") {
		t.Errorf("another verdict: %+v", p)
	}
	if got := decode[client.Execution](t, w.ask("POST", path, `{"as":"ignored","force":true}`)); got.Resolution.As != "ignored" || got.Resolution.Note != "" {
		t.Errorf("forced it is %+v", got.Resolution)
	}
}

func TestWhatIsWrongWithAVerbOnWhatFailedIsSaidByField(t *testing.T) {
	w := newWorld(t).with(t, "nightly", nightlyJob)
	letter, doubt, fine := w.failed(t, "nightly", lifecycle.FailedForGood(noon, "w", boom)), w.failed(t, "nightly", lifecycle.LeftForReview(noon, "w", boom)), w.failed(t, "nightly", lifecycle.Settled(noon, "w"))
	for says, row := range map[string]struct {
		path, body string
		status     int
		field      string
	}{
		"a verdict that is none":               {"/v1/dead/" + letter.ID + "/resolve", `{"as":"done"}`, 422, "as"},
		"no verdict":                           {"/v1/dead/" + letter.ID + "/resolve", `{}`, 422, "as"},
		"a note too long":                      {"/v1/dead/" + letter.ID + "/resolve", `{"as":"handled","note":"` + strings.Repeat("x", 1001) + `"}`, 422, "note"},
		"a field that means nothing":           {"/v1/dead/" + letter.ID + "/resolve", `{"as":"handled","why":"x"}`, 422, "why"},
		"closing what is in doubt":             {"/v1/dead/" + doubt.ID + "/resolve", `{"as":"handled"}`, 409, "status"},
		"closing what is absent":               {"/v1/dead/nightly~20260101T000000Z~v1/resolve", `{"as":"handled"}`, 404, "id"},
		"an id that is none":                   {"/v1/dead/nightly/resolve", `{"as":"handled"}`, 422, "id"},
		"a verdict on a doubt without a note":  {"/v1/executions/" + doubt.ID + "/resolve", `{"as":"succeeded"}`, 422, "note"},
		"a dead letter's verdict on a doubt":   {"/v1/executions/" + doubt.ID + "/resolve", `{"as":"handled","note":"x"}`, 422, "as"},
		"a verdict where there is no doubt":    {"/v1/executions/" + letter.ID + "/resolve", `{"as":"failed","note":"x"}`, 409, "status"},
		"a retry of what has ended":            {"/v1/executions/" + letter.ID + "/retry", ``, 409, "status"},
		"a replay of what succeeded":           {"/v1/executions/" + fine.ID + "/replay", ``, 409, "status"},
		"a replay of what is in doubt":         {"/v1/executions/" + doubt.ID + "/replay", ``, 409, "status"},
		"replays that nothing selects":         {"/v1/replays", `{}`, 422, "all"},
		"replays of what is in doubt":          {"/v1/replays", `{"status":["NEEDS_REVIEW"]}`, 422, "status"},
		"replays by a run that is none":        {"/v1/replays", `{"all":true,"run":"x"}`, 422, "run"},
		"replays since what is no time":        {"/v1/replays", `{"since":"x"}`, 422, "since"},
		"more replays than a page may have":    {"/v1/replays", `{"all":true,"limit":101}`, 422, "limit"},
		"a cancel of what is in doubt":         {"/v1/executions/" + doubt.ID + "/cancel", ``, 409, "status"},
		"a cancel of what has ended (PB-116)":  {"/v1/executions/" + fine.ID + "/cancel", ``, 409, "status"},
		"replays with a field that is unknown": {"/v1/replays", `{"all":true,"rate":2}`, 422, "rate"},
	} {
		t.Run(says, func(t *testing.T) {
			p := problemOf(t, w.ask("POST", row.path, row.body))
			if p.Status != row.status || p.Field != row.field || p.Fix == "" && p.Bound == "" {
				t.Errorf("it says %d at %q: %s (%s)", p.Status, p.Field, p.Detail, p.Fix)
			}
			if p.Status == 409 && p.Value == "" {
				t.Error("it does not name the status")
			}
		})
	}
}

func TestARetryNowAndAVerdictAreAnsweredWithWhatTheyMade(t *testing.T) {
	w := newWorld(t).with(t, "nightly", nightlyJob)
	waiting := w.failed(t, "nightly", lifecycle.Waiting(noon, noon.Add(time.Hour), "w", lifecycle.HandlerError, boom))
	if got := decode[client.Execution](t, w.ask("POST", "/v1/executions/"+waiting.ID+"/retry", "")); got.Status != job.RetryWait || !got.Ready || got.Attempt != 1 || got.Reason != client.Text(lifecycle.RetryAsked) {
		t.Errorf("it is %+v", got)
	}
	for as, want := range map[string]job.Status{"succeeded": job.Succeeded, "failed": job.Failed, "retry": job.RetryWait} {
		doubt := w.failed(t, "nightly", lifecycle.LeftForReview(noon, "w", boom))
		got := decode[client.Execution](t, w.ask("POST", "/v1/executions/"+doubt.ID+"/resolve", `{"as":"`+as+`","note":"seen"}`))
		if got.Status != want || got.Review == nil || got.Review.As != as || got.Review.Note != "seen" || (got.Stack != "") != (want == job.Failed) {
			t.Errorf("as %s it is %+v", as, got)
		}
	}
}

func TestAReplayIsAnsweredWithItsPlace(t *testing.T) {
	w := newWorld(t).with(t, "nightly", nightlyJob)
	letter := w.failed(t, "nightly", lifecycle.FailedForGood(noon, "w", boom))
	path := "/v1/executions/" + letter.ID + "/replay"
	answer := w.ask("POST", path, "", "Idempotency-Key: a")
	made := decode[client.Execution](t, answer)
	if answer.Code != http.StatusCreated || answer.Header().Get("Location") != "/v1/executions/"+made.ID || made.Kind != "replay" || string(made.ReplayOf) != letter.ID || made.Origin != "" || made.Actor != "anonymous" {
		t.Errorf("%d at %q: %+v", answer.Code, answer.Header().Get("Location"), made)
	}
	if again := decode[client.Execution](t, w.ask("POST", path, "", "Idempotency-Key: a")); again.ID != made.ID {
		t.Errorf("again: %+v", again)
	}
	if got := decode[client.Execution](t, w.ask("GET", "/v1/executions/"+letter.ID, "")); !slices.Equal(got.ReplayedBy, []string{made.ID}) {
		t.Errorf("it is replayed by %v", got.ReplayedBy)
	}
}

func TestReplaysByFilter(t *testing.T) {
	w := newWorld(t).with(t, "nightly", nightlyJob).with(t, "often", logJob)
	for range 3 {
		w.failed(t, "nightly", lifecycle.FailedForGood(noon.Add(-time.Second), "w", lifecycle.Failure{Code: "HTTP_503"}))
	}
	gone := w.failed(t, "often", lifecycle.FailedForGood(noon, "w", lifecycle.Failure{Code: "HTTP_503"}))
	if answer := w.ask("DELETE", "/v1/jobs/often", ""); answer.Code != http.StatusNoContent {
		t.Fatal(answer.Body)
	}
	dry := decode[client.Replays](t, w.ask("POST", "/v1/replays?dry_run=true", `{"code":["HTTP_503"]}`))
	if !dry.DryRun || len(dry.Items) != 4 || dry.Run == "" || dry.Items[0].Replay != "" || dry.Items[0].Made {
		t.Errorf("a dry run gives %+v", dry)
	}
	if all := w.dead(t, "?open=true"); len(all.Items) != 4 {
		t.Errorf("after it %d are open", len(all.Items))
	}
	made, cursor := 0, ""
	for range 10 {
		page := decode[client.Replays](t, w.ask("POST", "/v1/replays", `{"code":["HTTP_503"],"run":"`+dry.Run+`","limit":2,"cursor":"`+cursor+`"}`))
		for _, one := range page.Items {
			switch {
			case one.Execution == gone.ID:
				if one.Refused == nil || one.Refused.Code != job.CodeStateConflict || one.Replay != "" {
					t.Errorf("of a deleted job: %+v", one)
				}
			case one.Made && one.Replay != "" && one.Refused == nil:
				made++
			default:
				t.Errorf("it gives %+v", one)
			}
		}
		if cursor = string(page.NextCursor); cursor == "" {
			break
		}
	}
	if open := w.dead(t, "?open=true"); made != 3 || len(open.Items) != 1 || open.Items[0].ID != gone.ID {
		t.Errorf("%d are made, open are %+v", made, open.Items)
	}
}
