package queue

import (
	"fmt"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// DefaultPrefix is the first part of every queue's name.
const DefaultPrefix = "belfry"

const (
	isolationSuffix  = "-isolation"
	deadLetterSuffix = "-dlq"
	longestName      = 80
)

// Names are the names of an installation's queues. The zero value uses
// DefaultPrefix; installations that share an account need prefixes of their own.
type Names struct {
	Prefix string
}

func (n Names) prefix() string {
	if n.Prefix == "" {
		return DefaultPrefix
	}
	return n.Prefix
}

// Work is the pool's queue.
func (n Names) Work(pool string) string { return n.prefix() + "-" + queueWord(pool) }

// Isolation is the pool's queue of executions that lost a worker.
func (n Names) Isolation(pool string) string { return n.Work(pool) + isolationSuffix }

// DeadLetter is where both of the pool's queues put what was received too often.
func (n Names) DeadLetter(pool string) string { return n.Work(pool) + deadLetterSuffix }

// Scan is the queue of shard ranges to be scanned.
func (n Names) Scan() string { return n.prefix() + "-scan" }

// Tick is the queue by which the tick wakes itself.
func (n Names) Tick() string { return n.prefix() + "-tick" }

// Of says what a queue of this name, URL or ARN is to the pools given: whose
// queue, and whether it is the isolation queue. Unknown names give false.
func (n Names) Of(queue string, pools []string) (pool string, isolated, known bool) {
	name := queue[strings.LastIndexAny(queue, "/:")+1:]
	for _, p := range pools {
		switch name {
		case n.Work(p), n.DeadLetter(p):
			return p, false, true
		case n.Isolation(p):
			return p, true, true
		}
	}
	return "", false, false
}

// Check refuses pools whose queues would be one and the same, such as pools
// named "a.b" and "a_b" or a pool named "scan", and names longer than SQS takes.
func (n Names) Check(pools []string) error {
	owner := map[string]string{n.Scan(): "the scan queue", n.Tick(): "the tick queue"}
	for _, pool := range pools {
		for _, name := range []string{n.Work(pool), n.Isolation(pool), n.DeadLetter(pool)} {
			if other, taken := owner[name]; taken {
				return &job.Error{Code: job.CodeInvalid, Field: "pool", Value: job.Shorten(pool),
					Message: fmt.Sprintf("pool %q and %s would share the queue %s", job.Shorten(pool), other, name), Fix: "rename the pool"}
			}
			if len(name) > longestName {
				return &job.Error{Code: job.CodeInvalid, Field: "pool", Value: job.Shorten(pool), Bound: fmt.Sprintf("%d characters", longestName),
					Message: fmt.Sprintf("the queue name %s is too long", name), Fix: "shorten the pool's name or the prefix"}
			}
			owner[name] = fmt.Sprintf("pool %q", pool)
		}
	}
	return nil
}

// queueWord is the pool's name in the alphabet of queue names, which lacks the
// dot.
func queueWord(pool string) string { return strings.ReplaceAll(pool, ".", "_") }
