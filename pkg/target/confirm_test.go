package target_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/target"
)

// bank is a receiver that can be asked. It answers the n-th webhook and the n-th
// question as its lists say, and the last of them from then on.
type bank struct {
	mu        sync.Mutex
	calls     []string // POST and GET, as they came
	faults    []string // what was wrong with them
	webhooks  []func(http.ResponseWriter, *http.Request)
	questions []string // a status and a body
}

func (b *bank) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	b.mu.Lock()
	b.calls = append(b.calls, r.Method)
	b.check(r, body)
	answer := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }
	if r.Method == http.MethodPost {
		answer, b.webhooks = next(b.webhooks)
	} else if len(b.questions) > 0 {
		var line string
		line, b.questions = next(b.questions)
		answer = says(line)
	}
	b.mu.Unlock()
	answer(w, r)
}

func next[T any](list []T) (T, []T) {
	if len(list) > 1 {
		return list[0], list[1:]
	}
	return list[0], list
}

// check holds a question against the contract of a webhook.
func (b *bank) check(r *http.Request, body []byte) {
	wrong := func(what string) { b.faults = append(b.faults, r.Method+": "+what) }
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil || verifier.VerifyIgnoringTimestamp(body, r.Header) != nil {
		wrong("the signature does not verify")
	}
	if !strings.HasPrefix(r.Header.Get("Idempotency-Key"), "default/pay~") || r.Header.Get("X-Team") != "billing" || r.Header.Get("Belfry-Attempt") == "" {
		wrong("headers " + r.Header.Get("Idempotency-Key") + " " + r.Header.Get("X-Team"))
	}
	if question := r.Method == http.MethodGet; question != (r.URL.Path == "/state/pay") || question != (len(body) == 0) {
		wrong(r.URL.Path + " with " + string(body))
	}
}

func says(line string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		status, body, _ := strings.Cut(line, " ")
		w.WriteHeader(map[string]int{"200": 200, "204": 204, "302": 302, "404": 404, "500": 500, "502": 502, "504": 504}[status])
		_, _ = io.WriteString(w, body)
	}
}

// hangUp takes the request and breaks the connection.
func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// silent answers when its caller has gone.
func silent(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// pay runs a webhook job to its end, or until it waits for a person, and gives
// its execution.
func pay(t *testing.T, receiver *bank, change func(*job.Definition)) *job.Execution {
	t.Helper()
	server := httptest.NewServer(receiver)
	defer server.Close()
	b, w := installation(t)
	if err := target.Register(w, target.Options{WebhookSecret: secret, WebhookAllow: target.Loopback()}); err != nil {
		t.Fatal(err)
	}
	ref := job.Ref{Tenant: "default", Job: "pay"}
	d := job.Definition{Job: "pay", Schedule: job.Schedule{Cron: "0 0 1 1 *"}, Template: true, Timeout: job.Duration(time.Second),
		Retry:  job.Retry{MaxAttempts: 4, Base: job.Duration(100 * time.Millisecond), Max: job.Duration(100 * time.Millisecond)},
		Target: job.Target{Webhook: &job.Webhook{URL: server.URL + "/pay", ConfirmURL: server.URL + "/state/{{ job }}", Headers: map[string]string{"X-Team": "billing"}}}}
	change(&d)
	if _, err := b.Control.Put(t.Context(), control.PutRequest{Ref: ref, Definition: d, Actor: "test"}); err != nil {
		t.Fatal(err)
	}
	e, err := b.Control.RunNow(t.Context(), control.RunRequest{Ref: ref, Actor: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- w.Run(ctx) }()
	ended := awaited(t, b, ref, e.Key)
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return ended
}

// awaited reads the execution until it has ended or waits for a person.
func awaited(t *testing.T, b *assemble.Belfry, ref job.Ref, key job.Key) *job.Execution {
	t.Helper()
	for tick := time.NewTicker(20 * time.Millisecond); ; <-tick.C {
		e, err := b.Store.Execution(t.Context(), ref, key)
		if err != nil {
			t.Fatal(err)
		}
		if !e.FinishedAt.IsZero() || e.Status == job.NeedsReview {
			tick.Stop()
			return e
		}
	}
}

func TestAReceiverIsAskedBeforeAWebhookIsCalledAgain(t *testing.T) {
	const post, get = "POST", "GET"
	type hooks = []func(http.ResponseWriter, *http.Request)
	ok := says("200 {}")
	for sentence, row := range map[string]struct {
		webhooks  hooks
		questions []string
		calls     []string
		status    job.Status
		reason    job.Reason
	}{
		"done: it has succeeded, and is not called again":       {hooks{silent}, []string{`200 {"state":"done","id":7}`}, []string{post, get}, job.Succeeded, lifecycle.FoundDone},
		"not done: it is called again":                          {hooks{silent, ok}, []string{`200 {"state":"not_done"}`}, []string{post, get, post}, job.Succeeded, lifecycle.Done},
		"a 404 that says so is not done":                        {hooks{silent, ok}, []string{`404 {"state":"not_done"}`}, []string{post, get, post}, job.Succeeded, lifecycle.Done},
		"unknown: a person decides":                             {hooks{silent}, []string{`200 {"state":"unknown"}`}, []string{post, get}, job.NeedsReview, lifecycle.Uncertain},
		"errors and answers that say nothing: it is asked anew": {hooks{silent}, []string{"500 ", `404 nothing here`, `200 {"state":"done"}`}, []string{post, get, get, get}, job.Succeeded, lifecycle.FoundDone},
		"a 404 cannot be done":                                  {hooks{silent}, []string{`404 {"state":"done"}`}, []string{post, get, get, get}, job.NeedsReview, lifecycle.Uncertain},
		"a success that says nothing is none":                   {hooks{silent}, []string{"204 "}, []string{post, get, get, get}, job.NeedsReview, lifecycle.Uncertain},
		"a state that there is not is none":                     {hooks{silent}, []string{`200 {"state":"DONE"}`}, []string{post, get, get, get}, job.NeedsReview, lifecycle.Uncertain},
		"a redirect is not followed":                            {hooks{silent}, []string{"302 "}, []string{post, get, get, get}, job.NeedsReview, lifecycle.Uncertain},
		"a connection that broke when all was sent":             {hooks{hangUp}, []string{`200 {"state":"done"}`}, []string{post, get}, job.Succeeded, lifecycle.FoundDone},
		"a gateway that did not hear from the receiver":         {hooks{says("504 "), says("502 "), ok}, []string{`200 {"state":"not_done"}`}, []string{post, get, post, get, post}, job.Succeeded, lifecycle.Done},
		"an error of the receiver's own tells how it ended":     {hooks{says("500 "), ok}, []string{"500 "}, []string{post, post}, job.Succeeded, lifecycle.Done},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			receiver := &bank{webhooks: row.webhooks, questions: row.questions}
			e := pay(t, receiver, func(*job.Definition) {})
			if got := strings.Join(receiver.calls, " "); got != strings.Join(row.calls, " ") || e.Status != row.status || e.Reason != row.reason {
				t.Errorf("%s, then %s/%s (%s); want %v, then %s/%s", got, e.Status, e.Reason, e.ErrorText, row.calls, row.status, row.reason)
			}
			for _, fault := range receiver.faults {
				t.Error(fault)
			}
		})
	}
}

func TestAReceiverThatCannotBeAskedIsCalledAgain(t *testing.T) {
	for sentence, first := range map[string]func(http.ResponseWriter, *http.Request){"after a timeout": silent, "after a broken connection": hangUp, "after a gateway's answer": says("504 ")} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			receiver := &bank{webhooks: []func(http.ResponseWriter, *http.Request){first, says("200 ")}}
			e := pay(t, receiver, func(d *job.Definition) { d.Target.Webhook.ConfirmURL = "" })
			if got := strings.Join(receiver.calls, ", "); got != "POST, POST" || e.Status != job.Succeeded || e.Reason != lifecycle.Done {
				t.Errorf("%s, then %s/%s", got, e.Status, e.Reason)
			}
		})
	}
}

func TestAQuestionMayNotGoWhereAWebhookMayNot(t *testing.T) {
	receiver := &bank{webhooks: []func(http.ResponseWriter, *http.Request){silent}}
	e := pay(t, receiver, func(d *job.Definition) {
		d.Retry.MaxAttempts, d.Target.Webhook.ConfirmURL = 2, "http://169.254.169.254/latest/meta-data/"
	})
	if e.Status != job.NeedsReview || !strings.Contains(e.ErrorText, "169.254.169.254") {
		t.Errorf("%s: %s", e.Status, e.ErrorText)
	}
}
