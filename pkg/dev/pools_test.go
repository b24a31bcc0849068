package dev

import (
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestThePoolsAllowAQuarterOfAnHourAndTheLongOneHalfADay(t *testing.T) {
	api, err := client.New(client.Options{BaseURL: start(t).API})
	if err != nil {
		t.Fatal(err)
	}
	for pool, ceiling := range map[string]time.Duration{"fast-io": 15 * time.Minute, "external-api": 15 * time.Minute, "cpu-heavy": 15 * time.Minute,
		"long-running": 12 * time.Hour} {
		for timeout, code := range map[time.Duration]job.Code{ceiling: "", ceiling + time.Second: job.CodeInvalid} {
			_, err := api.PutJob(t.Context(), job.Definition{Job: "in-" + pool, Pool: pool, Timeout: job.Duration(timeout),
				Schedule: job.Schedule{Every: job.Duration(time.Hour)}, Target: job.Target{Log: &job.LogTarget{}}}, client.PutOptions{})
			if job.CodeOf(err) != code {
				t.Errorf("%s with a timeout of %s: %v, want code %q", pool, timeout, err, code)
			}
		}
	}
}
