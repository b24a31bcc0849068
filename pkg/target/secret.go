package target

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// Codes of secrets that could not be had, beside those of the services
// (SECRETSMANAGER_…, SSM_…).
const (
	CodeSecretNotAllowed = "SECRET_NOT_ALLOWED" // the installation does not list it
	CodeSecretUnusable   = "SECRET_UNUSABLE"    // it holds no text that can be sent
)

const (
	// secretFor is how long a secret is kept in memory: short enough that another
	// one is soon taken up, long enough that a burst asks once.
	secretFor = time.Minute
	// readSecretFor is how long the service may take: others wait for the answer.
	readSecretFor = 10 * time.Second
	// mostSecrets bounds what is kept.
	mostSecrets = 1000
	// hidden stands in texts where a secret stood.
	hidden = "[secret]"
	// longestSecret is what headers take, in bytes.
	longestSecret = 8 << 10
	// shortestHidden is the shortest secret that can be told apart from other text.
	shortestHidden = 4
)

// vault reads the secrets that jobs refer to and keeps them in memory for a while.
// Nothing of it is ever written.
type vault struct {
	read  func(ctx context.Context, ref job.SecretRef) (string, error) // nil = the worker reads none
	rules []string
	clock Clock

	mu   sync.Mutex
	kept map[string]*kept // by store and name
}

// kept is one secret's whole text, or the call that fetches it.
type kept struct {
	once  sync.Mutex // held while it is fetched
	text  string
	until time.Time // zero: it is not there
}

// resolved is a text in which a secret has taken the place of its reference.
type resolved struct {
	text   string
	secret string
	old    bool // it came from memory, so that another may be there by now
	forget func()
}

// resolve gives the text that a header is sent with: the value itself, unless it
// refers to a secret.
func (v *vault) resolve(ctx context.Context, value string) (resolved, error) {
	before, ref, holds, err := job.SecretIn(value)
	switch {
	case !holds:
		return resolved{text: value, forget: func() {}}, nil
	case err != nil:
		return resolved{}, worker.WithCode(CodeSecretUnusable, worker.Permanent(err))
	case !ref.Allowed(v.rules):
		return resolved{}, worker.WithCode(CodeSecretNotAllowed, worker.Permanent(fmt.Errorf("jobs may not refer to %s here: the setting `secrets` lists what they may", job.Shorten(ref.String()))))
	}
	whole, old, err := v.fetch(ctx, ref)
	if err != nil {
		return resolved{}, err
	}
	secret, err := member(whole, ref)
	if err != nil {
		return resolved{}, worker.WithCode(CodeSecretUnusable, worker.Permanent(err))
	}
	return resolved{text: before + secret, secret: secret, old: old, forget: func() { v.forget(ref) }}, nil
}

// fetch gives a secret's whole text, from memory when it was read not long ago.
// Of many that ask at once one asks the service.
func (v *vault) fetch(ctx context.Context, ref job.SecretRef) (text string, old bool, err error) {
	k := v.place(ref)
	k.once.Lock()
	defer k.once.Unlock()
	if v.clock.Now().Before(k.until) {
		return k.text, true, nil
	}
	if v.read == nil {
		return "", false, worker.WithCode(CodeSecretUnusable, worker.Permanent(errors.New("this worker reads no secrets")))
	}
	reading, done := context.WithTimeout(ctx, readSecretFor)
	defer done()
	if text, err = v.read(reading, ref); err != nil {
		return "", false, err
	}
	k.text, k.until = text, v.clock.Now().Add(secretFor)
	return text, false, nil
}

// place is where a secret is kept. All are forgotten when there are too many.
func (v *vault) place(ref job.SecretRef) *kept {
	v.mu.Lock()
	defer v.mu.Unlock()
	name := ref.Store + ":" + ref.Name
	if v.kept == nil || len(v.kept) >= mostSecrets && v.kept[name] == nil {
		v.kept = map[string]*kept{}
	}
	if v.kept[name] == nil {
		v.kept[name] = &kept{}
	}
	return v.kept[name]
}

func (v *vault) forget(ref job.SecretRef) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.kept, ref.Store+":"+ref.Name)
}

// member is the part of a secret that a reference names, without the line break
// that editors leave at its end.
func member(whole string, ref job.SecretRef) (string, error) {
	text := whole
	if ref.Key != "" {
		var members map[string]json.RawMessage
		if json.Unmarshal([]byte(whole), &members) != nil {
			return "", fmt.Errorf("the secret %s is no JSON object, so it has no key %s", job.Shorten(ref.Name), job.Shorten(ref.Key))
		}
		if json.Unmarshal(members[ref.Key], &text) != nil {
			return "", fmt.Errorf("the secret %s has no text under the key %s", job.Shorten(ref.Name), job.Shorten(ref.Key))
		}
	}
	if text = strings.TrimRight(text, "\r\n"); len(text) > longestSecret {
		return "", fmt.Errorf("the secret %s has %d bytes; a header takes %d", job.Shorten(ref.Name), len(text), longestSecret)
	}
	if text == "" {
		return "", fmt.Errorf("the secret %s holds no text", job.Shorten(ref.Name))
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return "", errors.New("the secret holds control characters, which no header can")
	}
	return text, nil
}

// secrets are what must not stand in any text of an attempt.
type secrets []string

// hide replaces every secret in a text, also in the forms in which a receiver
// would send it back. cut says that the text was longer: then its end may hold the
// beginning of a secret, and is left out.
func (s secrets) hide(text []byte, cut bool) []byte {
	if len(s) == 0 {
		return text
	}
	forms := s.forms()
	if slices.ContainsFunc(s, func(secret string) bool { return len(secret) < shortestHidden }) {
		return []byte("(not shown: the call carried a secret that is too short to be found in it)")
	}
	whole := string(text)
	for _, form := range forms {
		whole = strings.ReplaceAll(whole, form, hidden)
	}
	if cut {
		whole = whole[:len(whole)-begun(whole, forms)]
	}
	return []byte(whole)
}

// begun is how much at the end of a text may be the beginning of one of the forms.
func begun(text string, forms []string) int {
	most := 0
	for _, form := range forms {
		for n := min(len(form)-1, len(text)); n > most; n-- {
			if strings.HasSuffix(text, form[:n]) {
				most = n
			}
		}
	}
	return most
}

// forms are the secrets as they are, as JSON, in a URL and in base64, the longest
// first.
func (s secrets) forms() []string {
	var all []string
	for _, secret := range s {
		inJSON, err := json.Marshal(secret)
		if err != nil {
			inJSON = []byte(`""`)
		}
		all = append(all, secret, strings.Trim(string(inJSON), `"`), url.QueryEscape(secret), url.PathEscape(secret), base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)))
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return slices.DeleteFunc(slices.Compact(all), func(form string) bool { return form == "" })
}
