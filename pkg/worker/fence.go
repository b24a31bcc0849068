package worker

import (
	"fmt"
	"hash/crc32"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// createdLayout is fixed in width, so that text order is time order.
const createdLayout = "20060102T150405.000Z"

// Fence is a word that orders whoever may write: it sorts behind that of every
// earlier attempt of this execution, of every earlier execution for the same
// scheduled time (what a replay repeats), and of every earlier scheduled time.
// What is written at the outside keeps the highest one and refuses a lower one
// (package idempotent does so for DynamoDB, S3 and SQL).
//
// FencingToken alone cannot be compared so: it counts the attempts of one
// execution and begins anew with the next.
//
// It holds digits, T, Z, points and dashes at fixed places, so that every
// collation of every database sorts it alike: scheduled time, restore epoch,
// creation of the execution, the execution's own number, token.
func (a *Attempt) Fence() string {
	e := a.run.Execution
	epoch := e.FencingToken / job.RestoreBase(1)
	return fmt.Sprintf("%s-%010d-%s-%010d-%010d", e.Stands().ScheduledAt.UTC().Format(job.KeyTimeLayout), epoch,
		e.CreatedAt.UTC().Truncate(time.Millisecond).Format(createdLayout), crc32.ChecksumIEEE([]byte(e.Tenant+"/"+e.Job+"/"+e.Key.String())),
		e.FencingToken-job.RestoreBase(epoch))
}
