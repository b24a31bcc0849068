package job

import (
	"strconv"
	"time"
	"unicode/utf8"
)

// Verdict is what a person decided about an execution that waited for one.
type Verdict string

// The verdicts. The first two close a dead letter, the others end the doubt
// about an execution that is in NEEDS_REVIEW.
const (
	Handled  Verdict = "handled" // somebody saw to what the execution should have done
	Ignored  Verdict = "ignored" // nobody needs to
	ItWorked Verdict = "succeeded"
	ItFailed Verdict = "failed"
	TryAgain Verdict = "retry"
)

// MaxNote bounds a person's note, in bytes.
const MaxNote = 1000

// Resolution is a verdict with who reached it, when and why.
type Resolution struct {
	As   Verdict   `json:"as"`
	By   string    `json:"by"`
	At   time.Time `json:"at"`
	Note string    `json:"note,omitempty"`
}

// CheckNote refuses a note that is too long or no text.
func CheckNote(note string) error {
	switch {
	case len(note) > MaxNote:
		return &Error{Code: CodeTooLarge, Field: "note", Value: Shorten(note), Bound: strconv.Itoa(MaxNote) + " bytes",
			Message: "the note is too long", Fix: "shorten it, or note where the whole is to be read"}
	case !utf8.ValidString(note):
		return &Error{Code: CodeInvalid, Field: "note", Message: "the note is not UTF-8", Fix: "write it as UTF-8 text"}
	}
	return nil
}

// AttentionEntry says that an execution needed a person, when and why. What
// became of it since is in the execution itself.
type AttentionEntry struct {
	ExecutionRef
	At        time.Time
	Status    Status
	Reason    Reason
	ErrorCode string
	Cursor    string // of a page that goes on behind it
}

// AttentionQuery selects what needed a person, newest first.
type AttentionQuery struct {
	Tenant  string
	Letters bool      // dead letters: FAILED and DEAD
	Reviews bool      // NEEDS_REVIEW
	Since   time.Time // only what ended at or after it; zero = no bound
	Until   time.Time // only what ended at or before it; zero = no bound
	Cursor  string    // of the page before; empty = from the start
	Limit   int       // 1 to 1000
}

// Intervention is what stands beside the write of a person's verb on an
// execution.
type Intervention struct {
	WakeAt time.Time   // a wake-up in the same write; zero = none
	Review *Resolution // the verdict on an execution in NEEDS_REVIEW; nil = none
	Audit  Audit
}

// MaxReplays bounds how often one execution may be replayed; a replay of it can be
// replayed as often again.
const MaxReplays = 50
