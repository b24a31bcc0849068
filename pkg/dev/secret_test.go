package dev

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A receiver that already knows a secret can be tried without copying another.
func TestTheSecretOfTheEnvironmentSignsAndNoOtherIsMade(t *testing.T) {
	key := []byte("a key of thirty-two bytes, or so")
	signed := make(chan bool, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", r.Header.Get("Webhook-Id"), r.Header.Get("Webhook-Timestamp"), body)
		signed <- r.Header.Get("Webhook-Signature") == "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}))
	defer receiver.Close()
	done := errors.New("seen enough")
	call := func(ctx context.Context, method, url, body string) error {
		r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		defer func() { _ = answer.Body.Close() }()
		if answer.StatusCode >= 300 {
			return fmt.Errorf("%s %s: %s", method, url, answer.Status)
		}
		return nil
	}
	o := Options{Data: t.TempDir(), Listen: "127.0.0.1:0", AWSListen: "127.0.0.1:0", Entropy: rand.Reader, WebhookSecret: "whsec_" + base64.StdEncoding.EncodeToString(key)}
	o.Ready = func(ctx context.Context, urls URLs) error {
		definition := `{"schedule":{"every":"1d"},"target":{"webhook":{"url":"` + receiver.URL + `"}}}`
		if err := errors.Join(call(ctx, http.MethodPut, urls.API+"/v1/jobs/hook", definition), call(ctx, http.MethodPost, urls.API+"/v1/jobs/hook/run", "{}")); err != nil {
			return err
		}
		if !<-signed {
			t.Error("the call is not signed with the secret that was given")
		}
		return done
	}
	if err := Run(t.Context(), o); !errors.Is(err, done) {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(o.Data, "webhook-secret")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("another secret lies in the data folder: %v", err)
	}
}
