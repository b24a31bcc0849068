package schedule

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// input is one JSON object whose keys are read one by one. It keeps the first
// refusal; after it, values read as zero.
type input struct {
	id   json.RawMessage            // a string or a number, echoed; null when absent
	keys map[string]json.RawMessage // without id and without nulls
	err  error
}

// readInput reads one line with an id and the given keys; any other key is
// refused. The id is returned even with an error, whenever it could be read.
func readInput(line []byte, known ...string) (*input, error) {
	in := &input{id: json.RawMessage("null")}
	keys, err := readObject(line)
	id, ok := readID(keys)
	if !ok {
		return in, refuseInput("id", string(keys["id"]), "a string or a number", "the id is neither")
	}
	in.id = id
	if err != nil {
		return in, err
	}
	delete(keys, "id")
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !slices.Contains(known, key) {
			return in, withCode(job.CodeUnknownField, refuse(key, "", "id, "+strings.Join(known, ", "), "%s is not a key of a question", quote(key)))
		}
		if string(keys[key]) == "null" {
			delete(keys, key)
		}
	}
	in.keys = keys
	return in, nil
}

// readID is the id of an object, null when it is absent; false when it is
// neither a string nor a number.
func readID(keys map[string]json.RawMessage) (json.RawMessage, bool) {
	none := json.RawMessage("null")
	id, given := keys["id"]
	if !given {
		return none, true
	}
	if c := id[0]; c == '{' || c == '[' || c == 't' || c == 'f' {
		return none, false
	}
	return bytes.ToValidUTF8(id, []byte("\uFFFD")), true
}

func (in *input) refuse(err error) {
	if in.err == nil {
		in.err = err
	}
}

// text reads a string; absent is empty.
func (in *input) text(key string) string {
	raw, given := in.keys[key]
	if !given {
		return ""
	}
	return in.textOf(key, raw)
}

func (in *input) textOf(key string, raw json.RawMessage) string {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil || raw[0] != '"' {
		in.refuse(refuseInput(key, string(raw), "a string", key+" is not a string"))
	}
	return text
}

// schedule reads the keys that all questions share; the expression and the zone
// are required.
func (in *input) schedule() job.Schedule {
	s := job.Schedule{
		Cron:    in.text("expr"),
		Dialect: job.Dialect(in.text("dialect")),
		Zone:    in.text("zone"),
		Gap:     job.GapPolicy(in.text("gap")),
		Overlap: job.OverlapPolicy(in.text("overlap")),
	}
	if s.Cron == "" {
		in.refuse(refuse("expr", "", "", "the cron expression is empty"))
	}
	if s.Zone == "" {
		in.refuse(refuseZone(""))
	}
	return s
}

// time reads an instant that must be there.
func (in *input) time(key string) time.Time { return in.parse(key, in.text(key)) }

// optionalTime reads an instant; absent is the zero time.
func (in *input) optionalTime(key string) time.Time {
	if _, given := in.keys[key]; !given {
		return time.Time{}
	}
	return in.time(key)
}

// times reads a list of instants; absent is none.
func (in *input) times(key string) []time.Time {
	raw, given := in.keys[key]
	if !given || in.err != nil {
		return nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		in.refuse(refuseInput(key, string(raw), "a list of times", key+" is not a list"))
	}
	var times []time.Time
	for _, raw := range list {
		times = append(times, in.parse(key, in.textOf(key, raw)))
	}
	return times
}

func (in *input) parse(key, text string) time.Time {
	if in.err != nil {
		return time.Time{}
	}
	at, err := ParseTime(key, text)
	if err != nil {
		in.refuse(err)
	}
	return at
}

// readObject reads one JSON object, key by key, so that a repeated key or
// anything after the object is noticed. What was read before an error is
// returned with it.
func readObject(line []byte) (map[string]json.RawMessage, error) {
	decoder := json.NewDecoder(bytes.NewReader(line))
	keys := map[string]json.RawMessage{}
	bad := func(why string) (map[string]json.RawMessage, error) {
		return keys, refuseInput("", string(line), "one JSON object a line", "the line is not one JSON object: "+why)
	}
	switch token, err := decoder.Token(); {
	case err != nil:
		return bad("it is blank or not JSON")
	case token != json.Delim('{'):
		return bad("it does not begin with {")
	}
	for decoder.More() {
		token, err := decoder.Token()
		key, isText := token.(string)
		if err != nil || !isText {
			return bad("a key is broken")
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return bad("the value of " + quote(key) + " is broken")
		}
		if _, again := keys[key]; again {
			return bad("the key " + quote(key) + " is given twice")
		}
		keys[key] = value
	}
	if _, err := decoder.Token(); err != nil {
		return bad("it is cut off")
	}
	if rest := bytes.TrimSpace(line[decoder.InputOffset():]); len(rest) > 0 {
		return bad("something follows the object")
	}
	return keys, nil
}

func refuseInput(field, value, bound, message string) error {
	return withCode(job.CodeInvalid, refuse(field, value, bound, "%s", message))
}
