package dev

import (
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// accepts puts a job with that timeout into the pool, and one with a second more.
func accepts(t *testing.T, urls URLs, pool string, ceiling time.Duration) {
	t.Helper()
	api, err := client.New(client.Options{BaseURL: urls.API})
	if err != nil {
		t.Fatal(err)
	}
	for timeout, code := range map[time.Duration]job.Code{ceiling: "", ceiling + time.Second: job.CodeInvalid} {
		_, err := api.PutJob(t.Context(), job.Definition{Job: "in-" + pool, Pool: pool, Timeout: job.Duration(timeout),
			Schedule: job.Schedule{Every: job.Duration(time.Hour)}, Target: job.Target{Log: &job.LogTarget{}}}, client.PutOptions{})
		if job.CodeOf(err) != code {
			t.Errorf("%s with a timeout of %s: %v, want code %q", pool, timeout, err, code)
		}
	}
}

func TestWhatIsAcceptedHereIsAcceptedByADeployment(t *testing.T) {
	urls := start(t)
	for _, p := range dispatch.DefaultPools() {
		accepts(t, urls, p.Name, p.Ceiling)
	}
}

func TestThePoolsOfAnInstallationOfOnesOwn(t *testing.T) {
	ship := dispatch.Pools(dispatch.DefaultPools())
	own, _ := ship.Find("fast-io")
	own.Ceiling = 2 * time.Minute
	other, _ := ship.Find("long-running")
	other.Name, other.Ceiling = "reports", 3*time.Hour
	urls := start(t, func(o *Options) { o.Pools = dispatch.Pools{own, other} })
	accepts(t, urls, "fast-io", 2*time.Minute)
	accepts(t, urls, "reports", 3*time.Hour)
	api, err := client.New(client.Options{BaseURL: urls.API})
	if err != nil {
		t.Fatal(err)
	}
	_, err = api.PutJob(t.Context(), job.Definition{Job: "a", Pool: "cpu-heavy", Schedule: job.Schedule{Every: job.Duration(time.Hour)},
		Target: job.Target{Log: &job.LogTarget{}}}, client.PutOptions{})
	if job.CodeOf(err) != job.CodeInvalid {
		t.Errorf("a pool that ships and is not among them: %v", err)
	}
}

func TestPoolsThatCannotBeDeployedDoNotStart(t *testing.T) {
	pools := dispatch.Pools(dispatch.DefaultPools())
	pools[0].Ceiling = 15 * time.Minute
	err := Run(t.Context(), Options{Data: t.TempDir(), Listen: "127.0.0.1:0", AWSListen: "127.0.0.1:0", Pools: pools})
	if job.CodeOf(err) != job.CodeInvalid {
		t.Errorf("ended with %v", err)
	}
}
