package schedule

import (
	"hash/fnv"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Slot is how long after each scheduled time a job with the given jitter
// starts: whole seconds from 0 on and below jitter, spread evenly over jobs and
// always the same for one job, so that its executions keep their distance from
// each other. The scheduled time itself stays what it is: it names the
// execution, bounds its data interval and is what catching up reckons with.
// Zero jitter is no slot.
func Slot(jitter job.Duration, ref job.Ref) time.Duration {
	seconds := uint64(jitter / job.Duration(time.Second))
	if seconds == 0 {
		return 0
	}
	h := fnv.New64a()
	h.Write([]byte(ref.Tenant + "/" + ref.Job))
	return time.Duration(mixed(h.Sum64())%seconds) * time.Second
}

// mixed spreads what FNV leaves in few bits for names that differ in their last
// letters only, such as job-1 to job-999.
func mixed(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// checkJitter refuses a slot that is no whole number of seconds.
func checkJitter(jitter job.Duration) error {
	if jitter < 0 || jitter > job.MaxJitter || jitter%job.Duration(time.Second) != 0 {
		return refuse("jitter", jitter.String(), "whole seconds up to 10m", "a jitter of %s is not possible", jitter)
	}
	return nil
}
