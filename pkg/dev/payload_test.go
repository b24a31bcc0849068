package dev

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/client"
)

// large is n bytes that nothing compresses.
func large(n int) []byte {
	content := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{7}).Read(content)
	return content
}

func TestAStoredPayloadArrivesAtAWebhookAsItIs(t *testing.T) {
	urls := start(t)
	api, err := client.New(client.Options{BaseURL: urls.API})
	if err != nil {
		t.Fatal(err)
	}
	type call struct {
		kind string
		body []byte
	}
	calls := make(chan call, 4)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		calls <- call{r.Header.Get("Content-Type"), body}
	}))
	t.Cleanup(receiver.Close)
	for sentence, row := range map[string]struct {
		content []byte
		kind    string
	}{"JSON": {[]byte(`{"rows":"` + strings.Repeat("r", 1<<20) + `"}`), "application/json"}, "anything": {large(3 << 20), "application/octet-stream"}} {
		place, err := api.StorePayload(t.Context(), row.content, nil)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := api.StorePayload(t.Context(), row.content, nil); err != nil || again.PayloadRef != place.PayloadRef {
			t.Errorf("%s: stored again it is %q, %v", sentence, again.PayloadRef, err)
		}
		if _, err := told(t.Context(), http.MethodPut, urls.API+"/v1/jobs/one", `{"schedule":{"every":"1d"},"payload_ref":"`+place.PayloadRef+`","target":{"webhook":{"url":"`+receiver.URL+`"}}}`); err != nil {
			t.Fatal(err)
		}
		if _, err := api.RunJob(t.Context(), "one", ""); err != nil {
			t.Fatal(err)
		}
		if got := <-calls; got.kind != row.kind || !bytes.Equal(got.body, row.content) {
			t.Errorf("%s: %d bytes of %s arrived, want %d of %s", sentence, len(got.body), got.kind, len(row.content), row.kind)
		}
	}
}

// What was signed for one content stores no other.
func TestASignedUploadTakesNoOtherContent(t *testing.T) {
	urls := start(t)
	api, err := client.New(client.Options{BaseURL: urls.API})
	if err != nil {
		t.Fatal(err)
	}
	content := []byte("right")
	sum := sha256.Sum256(content)
	place, err := api.PlacePayload(t.Context(), hex.EncodeToString(sum[:]), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	for sentence, row := range map[string]struct {
		body   string
		header bool
		status int
	}{"another content": {"wrong", true, 400}, "without its checksum": {"right", false, 403}, "as it was signed": {"right", true, 200}} {
		r, err := http.NewRequestWithContext(t.Context(), place.Upload.Method, place.Upload.URL, strings.NewReader(row.body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range place.Upload.Headers {
			if row.header {
				r.Header.Set(name, value)
			}
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode != row.status {
			t.Errorf("%s: answered %s %s, want %d", sentence, answer.Status, text, row.status)
		}
	}
}
