package target

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

func TestLogTargetSaysWhatRanAndNeverThePayload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		at := time.Now().UTC().Add(-1500 * time.Millisecond)
		a := workertest.Attempt(workertest.Facts{Job: "hello", ScheduledAt: at, Payload: `{"secret":"s3cret"}`,
			Target: job.Target{Log: &job.LogTarget{Message: "good morning"}}, Log: slog.New(slog.NewJSONHandler(&out, nil))})
		if err := (logger{clock: clock.System{}}).handle(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		var line map[string]any
		if err := json.Unmarshal(out.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, out.String())
		}
		want := map[string]any{"msg": "good morning", "job": "default/hello", "execution": a.ExecutionID(), "attempt": 1.0, "payload_bytes": 19.0}
		for key, value := range want {
			if line[key] != value {
				t.Errorf("%s: %v, want %v", key, line[key], value)
			}
		}
		if lag, _ := line["lag"].(float64); time.Duration(lag) < 1500*time.Millisecond || strings.Contains(out.String(), "s3cret") {
			t.Errorf("%s: want the lag and no payload", out.String())
		}
	})
}
