//go:build !conformance

package object_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
)

// What S3 or the network does to any one call, the attempt's own write never stands
// in its way; what it does to a process, the next attempt's write stands.
func TestAFaultAtEveryCall(t *testing.T) {
	actions := []fault.Action{fault.Throttle, fault.FailBefore, fault.LoseResponse, fault.CrashBefore, fault.CrashAfter}
	for tool, write := range tools {
		runs := fault.Sweep(actions, nil, func(trial fault.Trial) {
			t.Run(tool+", "+trial.Name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					backend, err := localaws.New(localaws.Options{})
					if err != nil {
						t.Fatal(err)
					}
					defer backend.Close()
					b := &bench{t, s3.NewFromConfig(backend.Config()), "faults"}
					if _, err := b.client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("faults")}); err != nil {
						t.Fatal(err)
					}
					if err := write(b, b.client, fence(1), "before"); err != nil {
						t.Fatal(err)
					}
					config := backend.Config()
					config.HTTPClient = fault.Wrap(backend.Client(), trial.Decide)
					err = write(b, s3.NewFromConfig(config), fence(2), "faulty")
					if trial.Action != fault.Pass && !trial.Fired() {
						t.Error("the call that it is put at was not made")
					}
					crashed := slices.Contains([]fault.Action{fault.CrashBefore, fault.CrashAfter}, trial.Action)
					if (err != nil) != crashed {
						t.Errorf("answered %v", err)
					}
					if got := b.read(tool); got != "faulty" && (!crashed || got != "before") {
						t.Errorf("there is %q", got)
					}
					if err := write(b, b.client, fence(3), "next"); err != nil || b.read(tool) != "next" {
						t.Errorf("the next attempt: %v, there is %q", err, b.read(tool))
					}
				})
			})
		})
		if want := map[string]int{"put": 10, "publish": 20}[tool]; runs != want {
			t.Errorf("%s was tried with %d faults, want %d", tool, runs, want)
		}
	}
}
