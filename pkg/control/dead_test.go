package control_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// brought makes an execution of the desk's job and brings it into a status, as
// workers and the stream consumer would; running ones hold their lease.
func (d *desk) brought(status job.Status, code string) *job.Execution {
	d.Helper()
	e, err := d.RunNow(d.Context(), control.RunRequest{Ref: d.ref, Actor: "ada"})
	d.must(err)
	return d.bring(e, status, code)
}

func (d *desk) bring(e *job.Execution, status job.Status, code string) *job.Execution {
	d.Helper()
	store, now := d.belfry.Store, time.Now()
	f := lifecycle.Failure{Code: code, Text: "it broke"}
	if status == job.Scheduled {
		return e
	}
	if status == job.Canceled {
		d.must(store.Close(d.Context(), e, lifecycle.CanceledBy(now, "ada")))
		return d.reload(e)
	}
	held, err := store.Claim(d.Context(), job.ClaimRequest{Ref: e.Ref, Key: e.Key, Epoch: e.Epoch, Owner: "w", Nonce: "n", Now: now, Until: now.Add(time.Minute), Seen: e})
	d.must(err)
	settle := map[job.Status]lifecycle.Transition{job.Succeeded: lifecycle.Settled(now, "w"), job.Failed: lifecycle.FailedForGood(now, "w", f), job.Dead: lifecycle.GivenUp(now, "w", lifecycle.AttemptsUsedUp, f),
		job.NeedsReview: lifecycle.LeftForReview(now, "w", f), job.RetryWait: lifecycle.Waiting(now, now.Add(time.Hour), "w", lifecycle.HandlerError, f)}
	if t, settled := settle[status]; settled {
		d.must(store.Settle(d.Context(), held, t, time.Time{}))
	}
	e = d.reload(e)
	if lifecycle.Matters(status) {
		d.must(store.WriteAttention(d.Context(), e, e.Timeline[len(e.Timeline)-1].At))
	}
	return e
}

func (d *desk) reload(e *job.Execution) *job.Execution {
	d.Helper()
	now, err := d.belfry.Store.Execution(d.Context(), e.Ref, e.Key)
	d.must(err)
	return now
}

// walk reads all pages of the list of dead letters: error code and whether it is
// open, newest first.
func (d *desk) walk(f control.DeadFilter, limit int) (said []string) {
	d.Helper()
	for cursor := ""; ; {
		page, next, err := d.Dead(d.Context(), d.ref.Tenant, f, cursor, limit)
		d.must(err)
		if len(page) > limit {
			d.Fatalf("a page of %d, asked for %d", len(page), limit)
		}
		for _, letter := range page {
			line := letter.Execution.ErrorCode
			if !letter.Open {
				line += " closed"
			}
			said = append(said, line)
		}
		if cursor = next; cursor == "" {
			return said
		}
	}
}

func TestDeadLettersAreListedByWhatIsAskedFor(t *testing.T) {
	atDesk(t, func(d *desk) {
		definition := daily()
		definition.Type = "billing"
		d.put(definition)
		begun := time.Now()
		var made []*job.Execution
		for i, status := range []job.Status{job.Failed, job.Dead, job.NeedsReview, job.Succeeded, job.Dead, job.Failed, job.NeedsReview, job.Failed} {
			made = append(made, d.brought(status, fmt.Sprint("E", i)))
			time.Sleep(time.Minute)
		}
		_, err := d.ResolveDead(d.Context(), control.ResolveRequest{Ref: d.ref, Key: made[0].Key, As: job.Handled, Actor: "ada"})
		d.must(err)
		_, err = d.Replay(d.Context(), control.ReplayRequest{Ref: d.ref, Key: made[1].Key, Actor: "ada"})
		d.must(err)
		_, err = d.Review(d.Context(), control.ReviewRequest{Ref: d.ref, Key: made[2].Key, As: job.TryAgain, Note: "n", Actor: "ada"})
		d.must(err)
		d.bring(d.reload(made[2]), job.NeedsReview, "E2 again")
		_, err = d.Review(d.Context(), control.ReviewRequest{Ref: d.ref, Key: made[6].Key, As: job.ItFailed, Note: "n", Actor: "ada"})
		d.must(err)
		six := d.reload(made[6])
		d.must(d.belfry.Store.WriteAttention(d.Context(), six, six.FinishedAt))
		for name, row := range map[string]struct {
			filter control.DeadFilter
			want   string
		}{
			"everything, latest end first; what is no letter any more is left out": {control.DeadFilter{}, "E6, E2 again, E7, E5, E4, E1 closed, E0 closed"},
			"what waits for a person":                 {control.DeadFilter{Open: true}, "E6, E2 again, E7, E5, E4"},
			"of a status":                             {control.DeadFilter{Statuses: []job.Status{job.Dead}}, "E4, E1 closed"},
			"of two statuses":                         {control.DeadFilter{Statuses: []job.Status{job.Dead, job.NeedsReview}}, "E2 again, E4, E1 closed"},
			"of a code":                               {control.DeadFilter{Codes: []string{"E4", "E9"}}, "E4"},
			"of a type":                               {control.DeadFilter{Type: "billing", Codes: []string{"E5"}}, "E5"},
			"of another type":                         {control.DeadFilter{Type: "report"}, ""},
			"of the job":                              {control.DeadFilter{Job: d.ref.Job, Statuses: []job.Status{job.Dead}}, "E4, E1 closed"},
			"of another job":                          {control.DeadFilter{Job: "other"}, ""},
			"since a moment, which is included":       {control.DeadFilter{Since: begun.Add(7 * time.Minute)}, "E6, E2 again, E7"},
			"until a moment, which is included":       {control.DeadFilter{Until: begun.Add(time.Minute)}, "E1 closed, E0 closed"},
			"between two moments, and open":           {control.DeadFilter{Since: begun, Until: begun.Add(5 * time.Minute), Open: true}, "E5, E4"},
			"what ended before the first of them did": {control.DeadFilter{Until: begun.Add(-time.Millisecond)}, ""},
		} {
			for _, limit := range []int{1, 2, 1000} {
				if got := strings.Join(d.walk(row.filter, limit), ", "); got != row.want {
					t.Errorf("%s, by %d: %s\nwant %s", name, limit, got, row.want)
				}
			}
		}
	})
}

// A narrow filter over a long list is read in several calls, each of which looks at
// so many entries and no more.
func TestALongListIsReadInSeveralCalls(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.put(daily())
		wanted := d.brought(job.Failed, "RARE")
		time.Sleep(time.Second)
		for n := range 2100 {
			e := &job.Execution{Ref: d.ref, Key: job.ScheduledKey(time.Now().Add(time.Duration(n) * time.Second)), Status: job.Failed, ErrorCode: "COMMON"}
			d.must(d.belfry.Store.WriteAttention(d.Context(), e, time.Now().Add(time.Duration(n)*time.Millisecond)))
		}
		calls := 0
		for cursor := ""; ; calls++ {
			page, next, err := d.Dead(d.Context(), d.ref.Tenant, control.DeadFilter{Codes: []string{"RARE"}}, cursor, 10)
			d.must(err)
			if cursor = next; cursor == "" {
				if len(page) != 1 || page[0].Execution.Key != wanted.Key || calls != 2 {
					t.Errorf("after %d calls the last page is %+v", calls, page)
				}
				return
			}
			if len(page) != 0 {
				t.Errorf("call %d shows %+v", calls, page)
			}
		}
	})
}

func TestADeadLetterIsClosedOnce(t *testing.T) {
	as := func(verdict job.Verdict, note, by string, force bool) control.ResolveRequest {
		return control.ResolveRequest{As: verdict, Note: note, Actor: by, Force: force}
	}
	first := as(job.Handled, "by hand", "ada", false)
	for name, row := range map[string]struct {
		then control.ResolveRequest
		want string // verdict and who, or the code of the refusal
		news bool   // whether it is audited
	}{
		"the same again":                       {as(job.Handled, "by hand", "bob", false), "handled by ada: by hand", false},
		"the same without a note":              {as(job.Handled, "", "bob", false), "handled by ada: by hand", false},
		"the same with another note":           {as(job.Handled, "other", "bob", false), "STATE_CONFLICT", false},
		"another verdict":                      {as(job.Ignored, "", "bob", false), "STATE_CONFLICT", false},
		"another verdict, forced":              {as(job.Ignored, "", "bob", true), "ignored by bob: ", true},
		"another note, forced":                 {as(job.Handled, "other", "bob", true), "handled by bob: other", true},
		"the same, forced":                     {as(job.Handled, "by hand", "bob", true), "handled by ada: by hand", false},
		"a verdict that is none":               {as(job.ItFailed, "", "bob", true), "INVALID", false},
		"a note that is longer than it may be": {as(job.Handled, strings.Repeat("x", job.MaxNote+1), "bob", true), "TOO_LARGE", false},
	} {
		t.Run(name, func(t *testing.T) {
			atDesk(t, func(d *desk) {
				d.put(daily())
				e := d.brought(job.Dead, "X")
				first.Ref, first.Key, row.then.Ref, row.then.Key = d.ref, e.Key, d.ref, e.Key
				_, err := d.ResolveDead(d.Context(), first)
				d.must(err)
				before := len(d.audit())
				time.Sleep(time.Minute)
				e, err = d.ResolveDead(d.Context(), row.then)
				got := string(job.CodeOf(err))
				if err == nil {
					got = fmt.Sprintf("%s by %s: %s", e.Resolution.As, e.Resolution.By, e.Resolution.Note)
				}
				if got != row.want || len(d.audit()) > before != row.news {
					t.Errorf("got %s (%v), audited %v", got, err, d.audit()[before:])
				}
			})
		})
	}
}

// Each verb for executions that failed, in each status: what it does, or that it is
// refused, with the status and what to do instead.
func TestWhatAPersonMayDoInWhichStatus(t *testing.T) {
	allowed := map[string][]job.Status{
		"retry":          {job.RetryWait},
		"replay":         {job.Failed, job.Dead},
		"close":          {job.Failed, job.Dead},
		"decide":         {job.NeedsReview},
		"cancel":         {job.Scheduled, job.Running, job.RetryWait},
		"decide, absent": nil,
	}
	for verb, statuses := range allowed {
		for _, status := range []job.Status{job.Scheduled, job.Running, job.RetryWait, job.Succeeded, job.Failed, job.Dead, job.Canceled, job.NeedsReview} {
			t.Run(verb+" "+string(status), func(t *testing.T) {
				atDesk(t, func(d *desk) {
					d.put(daily())
					e := d.brought(status, "X")
					if verb == "decide, absent" {
						e.Key = job.ScheduledKey(time.Now())
						if _, err := d.act("decide", e); job.CodeOf(err) != job.CodeNotFound {
							t.Errorf("it gives %v", err)
						}
						return
					}
					before := len(d.audit())
					_, err := d.act(verb, e)
					var refusal *job.Error
					switch asJobError(err, &refusal); {
					case slices.Contains(statuses, status):
						if err != nil || len(d.audit()) == before && verb != "cancel" {
							t.Errorf("it gives %v, audited are %v", err, d.audit())
						}
					case refusal == nil || refusal.Code != job.CodeStateConflict || refusal.Value != string(status) || refusal.Field != "status" || refusal.Fix == "":
						t.Errorf("it gives %+v", err)
					case d.reload(e).Status != status || len(d.audit()) != before:
						t.Errorf("refused it is %s", d.reload(e).Status)
					}
				})
			})
		}
	}
}

func (d *desk) act(verb string, e *job.Execution) (*job.Execution, error) {
	switch verb {
	case "retry":
		return d.RetryNow(d.Context(), d.ref, e.Key, "bob")
	case "replay":
		return d.Replay(d.Context(), control.ReplayRequest{Ref: d.ref, Key: e.Key, Actor: "bob"})
	case "close":
		return d.ResolveDead(d.Context(), control.ResolveRequest{Ref: d.ref, Key: e.Key, As: job.Ignored, Actor: "bob"})
	case "decide":
		return d.Review(d.Context(), control.ReviewRequest{Ref: d.ref, Key: e.Key, As: job.ItWorked, Note: "seen", Actor: "bob"})
	}
	return d.Cancel(d.Context(), d.ref, e.Key, "bob")
}
