package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A command that waits tells on stderr how far the backfill has come, and its exit
// code says how it ended.
func TestABackfillIsAwaited(t *testing.T) {
	t.Parallel()
	const body = `{"id":"01JZXW7GB0RE2M4Q0T5N6V8XYZ","job":"nightly","state":%q,"count":4,"made":%d,"skipped":1,"rate":1,"job_state":"ENABLED"}`
	for state, row := range map[string]struct {
		code int
		out  string
	}{
		"DONE":     {exitOK, "backfill ULID is DONE: 3 of 4 made, 1 passed over\n"},
		"CANCELED": {exitFailed, "backfill ULID is CANCELED: 3 of 4 made, 1 passed over\n"},
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if r.Method == http.MethodPost {
					w.WriteHeader(http.StatusCreated)
					fmt.Fprintf(w, body, "RUNNING", 2)
					return
				}
				fmt.Fprintf(w, body, state, 3)
			}))
			defer api.Close()
			got := belfry(t, api.URL, "", "backfill", "nightly", "--from", "2026-07-01T00:00:00Z", "--wait")
			if got.code != row.code || steady(got.out) != row.out || steady(got.err) != "ULID: 2 of 4 made, 1 passed over\n" {
				t.Errorf("exit code %d, %q, %q", got.code, steady(got.out), steady(got.err))
			}
		})
	}
}

func TestRatesAreReadAndWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"2/s": "2/s", "30/min": "30/min", "100/h": "1.667/min", "0.5": "30/min", "10/h": "10/h", "90/min": "1.5/s"} {
		rate, err := parseRate((&app{}).backfillCommand(), text)
		if err != nil || rateText(rate) != want {
			t.Errorf("%s is %v, written %s, want %s (%v)", text, rate, rateText(rate), want, err)
		}
	}
	for _, text := range []string{"0", "-1/s", "2/", "/s", "2/d", "NaN", "Inf/s", "1/s/s", "x"} {
		if rate, err := parseRate((&app{}).backfillCommand(), text); err == nil {
			t.Errorf("%q is taken as %v", text, rate)
		}
	}
}
