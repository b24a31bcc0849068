package template

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Facts are the values that a template can ask for.
type Facts struct {
	ExecutionID, IdempotencyKey, Tenant, Job string
	Revision, Attempt                        int
	FencingToken                             int64
	ScheduledTime, IntervalEnd, Deadline     time.Time
	IntervalStart                            time.Time       // zero where there is no time before
	Zone                                     *time.Location  // of the schedule; nil = UTC
	Payload                                  json.RawMessage // whose members can be named; empty = none
}

// kind is what a value is.
type kind int

const (
	isText kind = iota
	isNumber
	isTime
	isJSON
)

func (k kind) String() string {
	return [...]string{"a text", "a number", "a time", "a member of the payload"}[k]
}

// name is one of the closed list of names.
type name struct {
	name string
	kind kind
	// sometimes says that there may be no value.
	sometimes bool
	of        func(f *Facts) value
}

// value is what is filled in.
type value struct {
	kind   kind
	text   string // of a text or a number; of JSON as it is
	at     time.Time
	absent bool
}

func textOf(t string) value    { return value{kind: isText, text: t} }
func numberOf(n int64) value   { return value{kind: isNumber, text: strconv.FormatInt(n, 10)} }
func timeOf(t time.Time) value { return value{kind: isTime, at: t, absent: t.IsZero()} }

// known is the closed list of names.
var known = []name{
	{"scheduled_time", isTime, false, func(f *Facts) value { return timeOf(f.ScheduledTime) }},
	{"interval_start", isTime, true, func(f *Facts) value { return timeOf(f.IntervalStart) }},
	{"interval_end", isTime, false, func(f *Facts) value { return timeOf(f.IntervalEnd) }},
	{"deadline", isTime, false, func(f *Facts) value { return timeOf(f.Deadline) }},
	{"execution_id", isText, false, func(f *Facts) value { return textOf(f.ExecutionID) }},
	{"idempotency_key", isText, false, func(f *Facts) value { return textOf(f.IdempotencyKey) }},
	{"tenant", isText, false, func(f *Facts) value { return textOf(f.Tenant) }},
	{"job", isText, false, func(f *Facts) value { return textOf(f.Job) }},
	{"revision", isNumber, false, func(f *Facts) value { return numberOf(int64(f.Revision)) }},
	{"attempt", isNumber, false, func(f *Facts) value { return numberOf(int64(f.Attempt)) }},
	{"fencing_token", isNumber, false, func(f *Facts) value { return numberOf(f.FencingToken) }},
	{"payload", isJSON, true, func(f *Facts) value { return value{kind: isJSON, text: string(f.Payload), absent: len(f.Payload) == 0} }},
}

func find(called string) (name, bool) {
	at := slices.IndexFunc(known, func(k name) bool { return k.name == called })
	if at < 0 {
		return name{}, false
	}
	return known[at], true
}

// Names are all that a template can ask for.
func Names() []string {
	all := make([]string, len(known))
	for i, k := range known {
		all[i] = k.name
	}
	return all
}

func names() string { return strings.Join(Names(), ", ") }

// nearest is what to do about a name that is not known.
func nearest(called string) string {
	for _, k := range known {
		if strings.HasPrefix(k.name, called) || strings.HasPrefix(called, k.name) || strings.ReplaceAll(k.name, "_", "") == strings.ReplaceAll(called, "_", "") {
			return "did you mean " + k.name + "?"
		}
	}
	return "use one of the names allowed"
}

// member follows a path into JSON.
func member(document json.RawMessage, path []string) (value, error) {
	for i, step := range path {
		var members map[string]json.RawMessage
		var items []json.RawMessage
		found := false
		switch {
		case json.Unmarshal(document, &members) == nil && members != nil:
			document, found = members[step]
		case json.Unmarshal(document, &items) == nil && items != nil:
			if n, err := strconv.Atoi(step); err == nil && n >= 0 && n < len(items) {
				document, found = items[n], true
			}
		}
		if !found {
			return value{kind: isJSON, absent: true}, wrong(strings.Join(path[:i+1], "."), "members that the payload has", fmt.Sprintf("the payload has no %s", shorten(strings.Join(path[:i+1], "."))), "name a member that is there, or add | default '…'")
		}
	}
	return value{kind: isJSON, text: string(document), absent: string(document) == "null"}, nil
}

// plain is a value as a text.
func (v value) plain() string {
	switch v.kind {
	case isTime:
		return v.at.UTC().Format("2006-01-02T15:04:05.000Z07:00")
	case isJSON:
		var text string
		if json.Unmarshal([]byte(v.text), &text) == nil {
			return text
		}
		return compact(v.text)
	case isText, isNumber:
	}
	return v.text
}

// json is a value as JSON.
func (v value) json() string {
	switch v.kind {
	case isNumber, isJSON:
		return compact(v.text)
	case isText, isTime:
	}
	return quote(v.plain())
}
