package job

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Code is a stable, machine-readable name of a refusal. Codes are part of the
// API contract: they are added, never renamed.
type Code string

// The codes that the pure rooms raise. HTTP status and CLI exit code follow
// from the code alone (see Class).
const (
	CodeInvalid          Code = "INVALID"
	CodeUnknownField     Code = "UNKNOWN_FIELD"
	CodeNotSupported     Code = "NOT_SUPPORTED"
	CodeScheduleInvalid  Code = "SCHEDULE_INVALID"
	CodeScheduleDialect  Code = "SCHEDULE_DIALECT_AMBIGUOUS"
	CodeScheduleNever    Code = "SCHEDULE_NEVER_FIRES"
	CodeSchedulePast     Code = "SCHEDULE_IN_THE_PAST"
	CodeZoneUnknown      Code = "ZONE_UNKNOWN"
	CodeTimeInvalid      Code = "TIME_INVALID"
	CodePolicyUnknown    Code = "POLICY_UNKNOWN"
	CodeTooLarge         Code = "TOO_LARGE"
	CodeNotFound         Code = "NOT_FOUND"
	CodeAlreadyExists    Code = "ALREADY_EXISTS"
	CodeRevisionConflict Code = "REVISION_CONFLICT"
	CodeStateConflict    Code = "STATE_CONFLICT"
	CodeLeaseLost        Code = "LEASE_LOST"
	CodeRestorePending   Code = "RESTORE_PENDING"
	CodeThrottled        Code = "THROTTLED"
	CodeUnavailable      Code = "UNAVAILABLE"
	CodeInternal         Code = "INTERNAL"
)

// Class groups codes by what the caller can do about them.
type Class string

// The classes. Refused: mend the input. Missing: the thing is not there.
// Conflict: read again, then decide. Busy: the same call may succeed later.
// Broken: nothing the caller did.
const (
	ClassRefused  Class = "refused"
	ClassMissing  Class = "missing"
	ClassConflict Class = "conflict"
	ClassBusy     Class = "busy"
	ClassBroken   Class = "broken"
)

// Class tells what kind of refusal c is. An unknown code is ClassBroken.
func (c Code) Class() Class {
	switch c {
	case CodeInvalid, CodeUnknownField, CodeNotSupported, CodeScheduleInvalid, CodeScheduleDialect,
		CodeScheduleNever, CodeSchedulePast, CodeZoneUnknown, CodeTimeInvalid, CodePolicyUnknown, CodeTooLarge:
		return ClassRefused
	case CodeNotFound:
		return ClassMissing
	case CodeAlreadyExists, CodeRevisionConflict, CodeStateConflict, CodeLeaseLost, CodeRestorePending:
		return ClassConflict
	case CodeThrottled, CodeUnavailable:
		return ClassBusy
	case CodeInternal:
		return ClassBroken
	}
	return ClassBroken
}

// Error is a refusal that a person or a program can act on. Every field but
// Code and Message may be empty.
type Error struct {
	Code    Code   // stable name
	Field   string // path of what was wrong, such as "schedule.cron" or "minute"
	Value   string // the value given, shortened to 120 bytes
	Bound   string // the rule it broke, such as "0-59"
	Message string // one sentence: what is wrong
	Fix     string // one sentence: what to do next
	Line    int    // line in the input, from 1; 0 when there is none
}

// Error renders the refusal as one line: field, message, bound and fix.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", e.Line)
	}
	if e.Field != "" {
		fmt.Fprintf(&b, "%s: ", e.Field)
	}
	b.WriteString(e.Message)
	if e.Bound != "" && !strings.Contains(e.Message, e.Bound) {
		fmt.Fprintf(&b, " (allowed: %s)", e.Bound)
	}
	if e.Fix != "" {
		fmt.Fprintf(&b, "; %s", e.Fix)
	}
	return b.String()
}

// Is makes errors.Is(err, &Error{Code: c}) match by code alone.
func (e *Error) Is(target error) bool {
	var t *Error
	if !errors.As(target, &t) {
		return false
	}
	return t.Code == e.Code
}

// CodeOf returns the code of err, or "" when no *Error is in its chain.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Shorten bounds a value that is echoed in an error to 120 bytes, cut at a
// character boundary, so that hostile input cannot inflate answers and logs.
// Bytes that are no text, and control characters, which could forge a second
// line or speak to a terminal, become U+FFFD.
func Shorten(v string) string {
	const bound = 120
	if len(v) <= bound {
		return printable(v)
	}
	cut := bound
	for cut > 0 && v[cut]&0xC0 == 0x80 {
		cut--
	}
	return printable(v[:cut]) + "…"
}

func printable(v string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(v, "\uFFFD"))
}

// ErrLost is what a store returns when a compare-and-set lost: the thing had
// changed. The caller reads again and decides anew, or leaves it to the winner.
var ErrLost = &Error{Code: CodeStateConflict, Message: "it was changed at the same time", Fix: "read it again and decide anew"}
