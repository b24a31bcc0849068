package functions_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/functions"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
)

// An answer that says another time is all that a function learns of its clock.
func TestEveryAnswerTellsHowFarTheClockIsOff(t *testing.T) {
	for sentence, off := range map[string]time.Duration{"right": 0, "an hour ahead": time.Hour, "an hour behind": -time.Hour} {
		t.Run(sentence, func(t *testing.T) {
			backend, err := localaws.New(localaws.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = backend.Close() })
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				recorded := httptest.NewRecorder()
				backend.ServeHTTP(recorded, r)
				for name, values := range recorded.Header() {
					w.Header()[name] = values
				}
				w.Header().Set("Date", time.Now().Add(-off).UTC().Format(http.TimeFormat))
				w.WriteHeader(recorded.Code)
				_, _ = w.Write(recorded.Body.Bytes())
			}))
			t.Cleanup(server.Close)
			for name, value := range map[string]string{"AWS_ENDPOINT_URL": server.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any"} {
				t.Setenv(name, value)
			}
			i, err := functions.Open(t.Context(), func(string) (string, bool) { return "", false }, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			if i.Skew.Off() != 0 {
				t.Error("the clock is off before any answer")
			}
			_, _ = i.Store.Layouts(t.Context()) // there is no table: a refusal tells the time, too
			if got := i.Skew.Off(); got > off.Abs() || got < off.Abs()-2*time.Second {
				t.Errorf("off by %s, told as %s", off, got)
			}
		})
	}
}
