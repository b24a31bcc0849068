package container

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/clock"
)

// agent answers as the platform's does, in memory, and keeps what it was told.
type agent struct {
	told   []string
	answer func() (int, string)
}

func (a *agent) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	a.told = append(a.told, r.Method+" "+r.URL.Path+" "+string(body))
	w := httptest.NewRecorder()
	code, text := a.answer()
	w.WriteHeader(code)
	_, _ = w.WriteString(text)
	return w.Result(), nil
}

const (
	protect = `PUT /api/task-protection/v1/state {"ExpiresInMinutes":60,"ProtectionEnabled":true}`
	release = `PUT /api/task-protection/v1/state {"ProtectionEnabled":false}`
	granted = `{"protection":{"ProtectionEnabled":true}}`
)

func TestAContainerIsProtectedWhileAnythingRunsInIt(t *testing.T) {
	for sentence, row := range map[string]struct {
		agent  string
		busy   time.Duration // how long something runs, from the first minute on
		life   time.Duration
		answer func() (int, string)
		told   []string
	}{
		"nothing runs":              {"http://agent/api", 0, time.Hour, nil, nil},
		"something runs for a time": {"http://agent/api", 5 * time.Minute, time.Hour, nil, []string{protect, release}},
		"something runs for long":   {"http://agent/api", 70 * time.Minute, 3 * time.Hour, nil, []string{protect, protect, protect, release}},
		"the worker is stopped":     {"http://agent/api", time.Hour, 5 * time.Minute, nil, []string{protect, release}},
		"there is no agent":         {"", time.Hour, 2 * time.Hour, nil, nil},
		"the agent refuses in a 200 at first": {"http://agent/api", time.Minute, time.Hour, refuseOnce(http.StatusOK, `{"failure":{"Reason":"DEPLOYMENT_BLOCKED"}}`),
			[]string{protect, protect, release}},
		"the agent is throttled at first": {"http://agent/api", time.Minute, time.Hour, refuseOnce(http.StatusTooManyRequests, `{}`), []string{protect, protect, release}},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &agent{answer: row.answer}
				if a.answer == nil {
					a.answer = func() (int, string) { return http.StatusOK, granted }
				}
				var running atomic.Int64
				ctx, stop := context.WithTimeout(t.Context(), row.life)
				defer stop()
				time.AfterFunc(time.Minute-time.Second, func() { running.Store(int64(row.busy)) })
				time.AfterFunc(time.Minute+row.busy, func() { running.Store(0) })
				p := protection{agent: row.agent, running: func() int { return int(running.Load()) }, clock: clock.System{}, client: &http.Client{Transport: a},
					log: slog.New(slog.DiscardHandler)}
				p.run(ctx)
				if !slices.Equal(a.told, row.told) {
					t.Errorf("told %q\nwant %q", a.told, row.told)
				}
			})
		})
	}
}

// refuseOnce refuses the first time.
func refuseOnce(code int, text string) func() (int, string) {
	asked := 0
	return func() (int, string) {
		if asked++; asked == 1 {
			return code, text
		}
		return http.StatusOK, granted
	}
}
