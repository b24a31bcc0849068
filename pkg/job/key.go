package job

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// Kind says how an execution came into being. It is part of the unique key,
// so a manual run can never swallow a scheduled one.
type Kind string

// The kinds. A range is no execution: it is the one record of many scheduled
// times that share a disposition.
const (
	KindScheduled Kind = "s"
	KindManual    Kind = "m"
	KindReplay    Kind = "r"
	KindRange     Kind = "x"
	KindChild     Kind = "c" // of an execution that fanned out
	KindReduce    Kind = "f" // runs once all children of one have ended
)

// KeyTimeLayout is how a scheduled time is written in keys and ids: UTC to
// the second, so that text order is time order.
const KeyTimeLayout = "20060102T150405Z"

// Key is the unique key of an execution within its job. The zero value is not
// a key.
type Key struct {
	ScheduledAt time.Time // whole seconds, UTC
	Kind        Kind
	Serial      string // ULID of a manual run or replay; empty otherwise
	// Of is the kind of the execution that fanned out, whose scheduled time and serial
	// a child and a reduce execution share; empty for all others.
	Of    Kind
	Page  int // of a child: its page, from 0
	Index int // and its place in there, from 0
}

// ExecutionRef names one execution of one job.
type ExecutionRef struct {
	Ref Ref
	Key Key
}

// ScheduledKey is the key of the execution for one scheduled time.
func ScheduledKey(at time.Time) Key {
	return Key{ScheduledAt: at.UTC().Truncate(time.Second), Kind: KindScheduled}
}

// RangeKey is the key of the record of a range that begins at from.
func RangeKey(from time.Time) Key {
	return Key{ScheduledAt: from.UTC().Truncate(time.Second), Kind: KindRange}
}

// SerialKey is the key of a manual run or replay; its scheduled time is the
// second that the ULID carries.
func SerialKey(kind Kind, serial ulid.ULID) Key {
	return Key{ScheduledAt: ulid.Time(serial.Time()).UTC().Truncate(time.Second), Kind: kind, Serial: serial.String()}
}

// ReplayKey is the key of the replay that a backfill makes of the execution of a
// scheduled time: it sorts beside it, and the same backfill makes the same one.
func ReplayKey(at time.Time, backfill ulid.ULID) (Key, error) {
	serial := backfill
	if err := serial.SetTime(ulid.Timestamp(at.UTC().Truncate(time.Second))); err != nil {
		return Key{}, err
	}
	return SerialKey(KindReplay, serial), nil
}

// RepeatKey is the key of the replay that one run of replays makes of an execution.
// It sorts beside what it repeats; the same run makes the same key, and no two
// executions of a job have the same one.
func RepeatKey(run string, of Key) (Key, error) {
	digest := sha256.Sum256([]byte(run + "\x00" + of.String()))
	var serial ulid.ULID
	if err := serial.SetEntropy(digest[:10]); err != nil {
		return Key{}, err
	}
	return ReplayKey(of.ScheduledAt, serial)
}

// String renders the sortable form: "20260712T013000Z#s", "…#m#<ULID>".
func (k Key) String() string {
	if k.Of != "" {
		return k.Parent().String() + "#" + string(k.Kind) + k.place("#%04d-%04d")
	}
	text := k.ScheduledAt.UTC().Format(KeyTimeLayout) + "#" + string(k.Kind)
	if k.Serial != "" {
		text += "#" + k.Serial
	}
	return text
}

// ParseKey reads the form that String writes.
func ParseKey(text string) (Key, error) {
	refuse := func() (Key, error) {
		return Key{}, &Error{Code: CodeInvalid, Field: "key", Value: Shorten(text), Message: "\"" + Shorten(text) + "\" is not an execution key"}
	}
	parts := strings.Split(text, "#")
	if k, ok := parseMember(parts); ok && k.String() == text {
		return k, nil
	}
	if len(parts) < 2 || len(parts) > 3 {
		return refuse()
	}
	var k Key
	switch kind := Kind(parts[1]); kind {
	case KindScheduled, KindRange:
		at, ok := parseKeyTime(parts[0])
		if !ok {
			return refuse()
		}
		k = Key{ScheduledAt: at, Kind: kind}
	case KindManual, KindReplay:
		serial, err := ulid.ParseStrict(parts[len(parts)-1])
		if err != nil || serial.Time() > lastSerialTime {
			return refuse()
		}
		k = SerialKey(kind, serial)
	case KindChild, KindReduce:
		return refuse() // read above, when they name their parent
	default:
		return refuse()
	}
	// One key has one text: no other case, and no second that its serial does not carry.
	if k.String() != text {
		return refuse()
	}
	return k, nil
}

// parseKeyTime reads a time exactly as keys write it; time.Parse alone would
// let a fraction of a second pass.
func parseKeyTime(text string) (time.Time, bool) {
	at, err := time.Parse(KeyTimeLayout, text)
	return at, err == nil && at.Format(KeyTimeLayout) == text
}

// lastSerialTime bounds the times that serials may carry: a year of five digits
// would break the order of keys.
var lastSerialTime = ulid.Timestamp(time.Date(9999, 12, 31, 23, 59, 59, 999_000_000, time.UTC))

// Outside reports whether executions of this kind have no cursor behind them,
// so that nothing but their own wake-up keeps them (docs/architecture.md).
func (k Key) Outside() bool {
	return k.Kind == KindManual || k.Kind == KindReplay || k.Kind == KindReduce
}

// ID renders the readable execution id: "nightly~20260712T013000Z~v3" for a
// scheduled time, "nightly~m-<ULID>~v3" for a manual run. It carries the whole
// key, so no index is needed to find the execution.
func ID(job string, k Key, revision int) string {
	return fmt.Sprintf("%s~%s~v%d", job, k.middle(), revision)
}

// middle is what an id says of the key.
func (k Key) middle() string {
	at := k.ScheduledAt.UTC().Format(KeyTimeLayout)
	switch k.Kind {
	case KindManual, KindReplay:
		return string(k.Kind) + "-" + k.Serial
	case KindRange:
		return "x-" + at
	case KindChild, KindReduce:
		return k.Parent().middle() + "~" + k.member()
	case KindScheduled:
	}
	return at
}

// ParseID takes an execution id apart.
func ParseID(id string) (job string, k Key, revision int, err error) {
	refuse := func(why string) (string, Key, int, error) {
		return "", Key{}, 0, &Error{Code: CodeInvalid, Field: "id", Value: Shorten(id),
			Message: "\"" + Shorten(id) + "\" is not an execution id: " + why,
			Bound:   "such as nightly~20260712T013000Z~v3", Fix: "list ids with: belfry executions list JOB"}
	}
	parts := strings.Split(id, "~")
	member := ""
	if len(parts) == 4 && (parts[2] == reduceWord || strings.HasPrefix(parts[2], "c-")) {
		member, parts = parts[2], append(parts[:2:2], parts[3])
	}
	if len(parts) != 3 {
		return refuse("it must have three parts joined by ~")
	}
	if CheckName("job", parts[0]) != nil {
		return refuse("the first part is no job name")
	}
	revision, convErr := strconv.Atoi(strings.TrimPrefix(parts[2], "v"))
	if convErr != nil || revision < 1 || parts[2] != "v"+strconv.Itoa(revision) {
		return refuse("the last part must be v and the revision")
	}
	k, ok := parseMiddle(parts[1])
	if !ok {
		return refuse("the middle part is neither a time nor a serial")
	}
	if member != "" {
		if k, ok = k.withMember(member); !ok {
			return refuse("its third part is neither c-<page>-<place> nor reduce")
		}
	}
	return parts[0], k, revision, nil
}

func parseMiddle(middle string) (Key, bool) {
	if at, ok := parseKeyTime(middle); ok {
		return ScheduledKey(at), true
	}
	kind, rest, found := strings.Cut(middle, "-")
	if !found {
		return Key{}, false
	}
	switch Kind(kind) {
	case KindRange:
		at, ok := parseKeyTime(rest)
		return RangeKey(at), ok
	case KindManual, KindReplay:
		serial, err := ulid.ParseStrict(rest)
		return SerialKey(Kind(kind), serial), err == nil && serial.String() == rest && serial.Time() <= lastSerialTime
	case KindScheduled, KindChild, KindReduce:
	}
	return Key{}, false
}

// IdempotencyKey is what a handler should use to recognise the same business
// action again. It leaves the revision out: an edit does not make a new action.
func IdempotencyKey(ref Ref, k Key) string {
	return ref.String() + "~" + k.middle()
}
