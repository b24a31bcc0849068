package target

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

func TestASecretIsNotReadUnlessTheInstallationListsIt(t *testing.T) {
	for sentence, row := range map[string]struct {
		value string
		rules []string
		code  string
	}{
		"nothing is listed":                   {"ssm:/billing/token", nil, CodeSecretNotAllowed},
		"another is listed":                   {"Bearer ssm:/billing/token", []string{"ssm:/billing/other"}, CodeSecretNotAllowed},
		"listed, on a worker that reads none": {"ssm:/billing/token", []string{"ssm:/billing/*"}, CodeSecretUnusable},
		"a reference to nothing":              {"secretsmanager:hooks", []string{"ssm:/*"}, CodeSecretUnusable},
	} {
		t.Run(sentence, func(t *testing.T) {
			seen, _, err := post(t, Options{Secrets: row.rules}, workertest.Facts{Target: job.Target{Webhook: &job.Webhook{Headers: map[string]string{"Authorization": row.value}}}}, nil)
			if f := worker.FailureOf(err); f == nil || f.Class != "permanent" || f.Code != row.code || len(seen) != 0 {
				t.Errorf("%+v after %d calls; want %s and none", f, len(seen), row.code)
			}
		})
	}
}

// postBy makes one attempt whose header refers to a secret of v.
func postBy(t *testing.T, v *vault, answer http.HandlerFunc) error {
	t.Helper()
	receiver := httptest.NewServer(answer)
	defer receiver.Close()
	hook, err := newWebhook(Options{WebhookAllow: Loopback(), Clock: clock.System{}})
	if err != nil {
		t.Fatal(err)
	}
	defer hook.client.CloseIdleConnections()
	hook.vault = v
	target := job.Target{Webhook: &job.Webhook{URL: receiver.URL, Headers: map[string]string{"Authorization": "Bearer ssm:/billing/token"}}}
	return hook.handle(t.Context(), workertest.Attempt(workertest.Facts{Target: target}))
}

func TestOneMemberOfASecretIsTaken(t *testing.T) {
	for sentence, row := range map[string]struct{ whole, key, text, fault string }{
		"the whole":                  {"hunter2\n", "", "hunter2", ""},
		"a key":                      {`{"user":"u","token":"hunter2"}`, "token", "hunter2", ""},
		"a key that is not there":    {`{"token":"hunter2"}`, "tokens", "", "no text under the key tokens"},
		"a key that is no text":      {`{"token":7}`, "token", "", "no text under the key"},
		"a key of what is no object": {"hunter2", "token", "", "no JSON object"},
		"nothing":                    {"\n", "", "", "no text"},
		"more than a header takes":   {strings.Repeat("x", longestSecret+1), "", "", "a header takes 8192"},
		"two lines":                  {"hunter2\nX-Evil: 1", "", "", "control characters"},
	} {
		t.Run(sentence, func(t *testing.T) {
			text, err := member(row.whole, job.SecretRef{Store: "ssm", Name: "/x", Key: row.key})
			if text != row.text || (err != nil) != (row.fault != "") || err != nil && (!strings.Contains(err.Error(), row.fault) || strings.Contains(err.Error(), "hunter2")) {
				t.Errorf("%q, %v; want %q, %q", text, err, row.text, row.fault)
			}
		})
	}
}

// held is a vault that has read this secret just now.
func held(ref job.SecretRef, text string) *vault {
	v := &vault{rules: []string{"ssm:/*"}, clock: clock.System{}}
	k := v.place(ref)
	k.text, k.until = text, v.clock.Now().Add(secretFor)
	return v
}

// A receiver may send back what it was sent, in any form: no text of the attempt
// holds the secret.
func TestASecretThatIsSentBackIsNotTold(t *testing.T) {
	const secret = `hunter2/"ü"+&=`
	inJSON, _ := json.Marshal(secret)
	for sentence, answer := range map[string]string{
		"as it is":                    "bad token Bearer " + secret + "!",
		"as JSON":                     `{"token":` + string(inJSON) + `}`,
		"in a URL":                    "/login?token=" + url.QueryEscape(secret),
		"in base64":                   base64.StdEncoding.EncodeToString([]byte(secret)),
		"behind much else":            strings.Repeat("x", 508) + secret,
		"where the answer is cut off": strings.Repeat(secret, readMost/len(secret)+1),
	} {
		t.Run(sentence, func(t *testing.T) {
			seen := ""
			err := postBy(t, held(job.SecretRef{Store: "ssm", Name: "/billing/token"}, secret), func(w http.ResponseWriter, r *http.Request) {
				seen = r.Header.Get("Authorization")
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprint(w, answer)
			})
			f := worker.FailureOf(err)
			if seen != "Bearer "+secret || f == nil || f.Code != "HTTP_400" {
				t.Fatalf("sent %q, %+v", seen, f)
			}
			for _, form := range (secrets{secret}).forms() {
				if strings.Contains(f.Text, form) || strings.Contains(f.Text, form[:6]) && sentence != "as JSON" {
					t.Errorf("the text holds the secret: %s", f.Text)
				}
			}
		})
	}
}

func TestNoTextHoldsASecretHoweverItIsSetInto(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[!-~]{1,40}`).Draw(t, "secret")
		text := rapid.String().Draw(t, "before") + secret + rapid.String().Draw(t, "after")
		got := string(secrets{secret}.hide([]byte(text), false))
		if strings.Contains(got, secret) && !strings.Contains(hidden, secret) && !strings.HasPrefix(got, "(not shown") {
			t.Fatalf("%q in %q", secret, got)
		}
	})
}

// An answer is read up to a bound, at which a secret may be cut in two.
func TestTheBeginningOfASecretAtTheEndOfAnAnswerIsNotTold(t *testing.T) {
	secret := strings.Repeat("0123456789", 800)
	body := strings.Repeat(secret, 9)[:readMost]
	if got := string((secrets{secret}).hide([]byte(body), true)); strings.Contains(got, "0123456789") || !strings.HasPrefix(got, hidden) {
		t.Errorf("%d bytes are left, beginning with %.60s", len(got), got)
	}
	if got := string((secrets{"hunter2"}).hide([]byte("good: hunter2"), false)); got != "good: "+hidden {
		t.Errorf("what is whole became %q", got)
	}
}

// What was rotated is taken up by the next attempt: the refusal may be that of
// the old secret.
func TestARefusalOfASecretFromMemoryReadsItAnew(t *testing.T) {
	refuse := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }
	v := held(job.SecretRef{Store: "ssm", Name: "/billing/token"}, "old-secret")
	err := postBy(t, v, refuse)
	if f := worker.FailureOf(err); f == nil || f.Class != "transient" || f.Code != "HTTP_401" || len(v.kept) != 0 {
		t.Errorf("%+v, and %d secrets are kept", f, len(v.kept))
	}
	_, _, err = post(t, Options{}, workertest.Facts{}, refuse)
	if f := worker.FailureOf(err); f == nil || f.Class != "permanent" {
		t.Errorf("without a secret: %+v", f)
	}
}

func TestASecretIsForgottenAfterAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ref := job.SecretRef{Store: "ssm", Name: "/billing/token"}
		v := held(ref, "hunter2")
		time.Sleep(secretFor - time.Second)
		if text, old, err := v.fetch(t.Context(), ref); text != "hunter2" || !old || err != nil {
			t.Errorf("%q, %v, %v", text, old, err)
		}
		time.Sleep(time.Second)
		if _, _, err := v.fetch(t.Context(), ref); worker.FailureOf(err) == nil {
			t.Error("it is still kept")
		}
		for n := range 3 * mostSecrets {
			v.place(job.SecretRef{Store: "ssm", Name: fmt.Sprint("/", n)})
		}
		if len(v.kept) > mostSecrets {
			t.Errorf("%d secrets are kept", len(v.kept))
		}
	})
}
