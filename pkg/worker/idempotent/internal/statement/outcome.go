package statement

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
)

// Existing reads what an earlier attempt has kept; nothing is the zero value.
func Existing[T any](kept []byte) (idempotent.Outcome[T], error) {
	o := idempotent.Outcome[T]{State: idempotent.Existing}
	if len(kept) == 0 {
		return o, nil
	}
	if err := json.Unmarshal(kept, &o.Value); err != nil {
		return idempotent.Outcome[T]{}, worker.Permanent(fmt.Errorf("read what an earlier attempt has stored: %w", err))
	}
	return o, nil
}

// NotEntered says that there is no entry to keep a result at.
func NotEntered(action idempotent.Action) error {
	return worker.Permanent(&job.Error{Code: job.CodeNotFound, Field: "action", Value: job.Shorten(action.Key), Message: "the action was not entered",
		Fix: "call Enter first, in the same transaction"})
}

// Vanished says that a row stood in the way and was not there to be read: it was
// deleted in between, or the transaction reads from before it came.
func Vanished(r Row) error {
	return worker.Retry(errors.New("the row of " + r.Table + " whose " + strings.Join(r.Unique, ", ") + " was taken cannot be seen"))
}

// Overtaken says why a row that is there was not written.
func Overtaken(u Update, f, holder idempotent.Fence) error {
	if holder > f {
		return &idempotent.StaleError{What: "a row of " + u.Table, Fence: f, Holder: holder}
	}
	return worker.Retry(errors.New("the row of " + u.Table + " was not written, and no newer attempt has written it: it came in between, or a trigger or rule held it back"))
}
