package store

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

const (
	headKey      = "HEAD"
	historyMark  = "#H#"
	single       = "-" // sort key of a partition with one item
	tenantShards = 8
)

func revisionKey(number int) string { return fmt.Sprintf("REV#%06d", number) }

func refOf(pk string) job.Ref {
	tenant, name, _ := strings.Cut(pk, "/")
	name, _, _ = strings.Cut(name, "#") // what lies on a page of children
	return job.Ref{Tenant: tenant, Job: name}
}

// dueKey and wakeKey name a shard in the due and in the wake index (class timed).
func dueKey(s job.Shard) string  { return fmt.Sprintf("%d.%04d", s.Generation, s.Number) }
func wakeKey(s job.Shard) string { return fmt.Sprintf("t.%d.%04d", s.Generation, s.Number) }

func hash(text string, mod int) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text)) // never fails
	sum := h.Sum32()
	// FNV's low bits are weak for texts that differ in their last characters.
	sum ^= sum >> 16
	sum *= 0x7feb352d
	sum ^= sum >> 15
	return int(sum % uint32(mod))
}

func tenantShard(ref job.Ref) string { return shardOfTenant(ref.Tenant, hash(ref.Job, tenantShards)) }

func shardOfTenant(tenant string, n int) string { return fmt.Sprintf("%s#%d", tenant, n) }

// keyUpto is greater than every key of that second and less than any of the next.
func keyUpto(at time.Time) string { return at.UTC().Format(job.KeyTimeLayout) + "#~" }

// keyAfter sorts after every key of that second.
func keyAfter(at time.Time) string {
	if at.IsZero() {
		return "0"
	}
	return keyUpto(at)
}
