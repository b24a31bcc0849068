package idempotent

import (
	"fmt"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// Fence orders who may write: worker.Attempt.Fence. Compare it as text. The zero
// value belongs to nobody, and every write under it is refused.
type Fence string

// FenceOf is the fence of an attempt.
func FenceOf(a *worker.Attempt) Fence { return Fence(a.Fence()) }

// Check refuses the zero value and what no database would take as a key.
func (f Fence) Check() error { return checkWord("fence", string(f)) }

// Action is something that is to be done once, and who is about to do it.
type Action struct {
	// Key is the same whoever tries, and differs for every other thing to be done.
	// 1 to 512 bytes.
	Key string
	// Fence is who tries.
	Fence Fence
	// Deadline is when the attempt times out; inboxes reckon from it how long
	// to keep what they know. Zero where nothing is to expire.
	Deadline time.Time
}

// Of is the action of that name in a handler: of the attempt's idempotency key, so
// the same for every attempt and every replay. A handler that does several
// things gives each a name of its own; one that does a single thing may leave it empty.
func Of(a *worker.Attempt, name string) Action {
	key := a.IdempotencyKey()
	if name != "" {
		key += "#" + name
	}
	return Action{Key: key, Fence: FenceOf(a), Deadline: a.Deadline()}
}

// Check refuses an action without a key or a fence.
func (a Action) Check() error {
	if err := checkWord("action.key", a.Key); err != nil {
		return err
	}
	return a.Fence.Check()
}

// longest is in bytes: below what an index of PostgreSQL and a key of DynamoDB take.
const longest = 512

func checkWord(field, word string) error {
	e := &job.Error{Code: job.CodeInvalid, Field: field, Value: job.Shorten(word), Bound: fmt.Sprintf("1 to %d bytes", longest)}
	switch {
	case word == "":
		e.Message, e.Fix = "it is empty", "take it from the attempt, with idempotent.Of or idempotent.FenceOf"
	case len(word) > longest:
		e.Message, e.Fix = fmt.Sprintf("it is %d bytes long", len(word)), "shorten it, for example to a digest"
	default:
		return nil
	}
	return e
}
