package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Whoever resumes a job is told when times of the pause are caught up (PB-047).
func TestAResumeTellsFromWhereOnTimesAreLate(t *testing.T) {
	t.Parallel()
	const changed, before, after = "2026-02-23T08:00:00.000Z", "2026-02-20T17:45:00.000Z", "2026-02-27T17:45:00.000Z"
	for says, row := range map[string]struct {
		cursor string
		told   bool
	}{"caught up": {before, true}, "passed over": {after, false}} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"job":"weekly","state":"ENABLED","revision":1,"epoch":3,"pool":"fast-io","schedule":{"cron":"45 20 * * 5","zone":"Europe/Moscow"},"next_fire_at":%q,"cursor_at":%q,"updated_at":%q}`, after, row.cursor, changed)
		}))
		got := belfry(t, server.URL, "", "jobs", "resume", "weekly")
		server.Close()
		const line = "its times from 2026-02-20 20:45:00 +03:00 on are late, and left to the misfire policy"
		if got.code != 0 || strings.Contains(got.out, line) != row.told || !strings.Contains(got.out, "weekly is ENABLED, next 2026-02-27 20:45:00 +03:00") {
			t.Errorf("%s: %+v", says, got)
		}
	}
}
