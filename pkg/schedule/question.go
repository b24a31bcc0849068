package schedule

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// question is one line asked of ServeNext.
type question struct {
	id       json.RawMessage // a string or a number, echoed; null when absent
	schedule job.Schedule
	after    time.Time
	count    int
}

// The bounds of count in a question.
const (
	defaultCount = 1
	mostCount    = 1000
)

// readQuestion reads one line. The id is returned even with an error, whenever
// it could be read.
func readQuestion(line []byte) (question, error) {
	q := question{id: json.RawMessage("null"), count: defaultCount}
	keys, err := readObject(line)
	if id, ok := keys["id"]; ok {
		if c := id[0]; c == '{' || c == '[' || c == 't' || c == 'f' {
			return q, refuseInput("id", string(id), "a string or a number", "the id is neither")
		}
		q.id = bytes.ToValidUTF8(id, []byte("\uFFFD"))
	}
	if err != nil {
		return q, err
	}
	texts := map[string]string{"dialect": "", "expr": "", "zone": "", "after": "", "gap": "", "overlap": ""}
	for key, raw := range keys {
		switch _, isText := texts[key]; {
		case key == "id":
		case key == "count":
			if q.count, err = readCount(raw); err != nil {
				return q, err
			}
		case !isText:
			return q, withCode(job.CodeUnknownField, refuse(key, "", "id, dialect, expr, zone, after, count, gap, overlap", "%s is not a key of a question", quote(key)))
		case string(raw) == "null":
		case raw[0] != '"':
			return q, refuseInput(key, string(raw), "a string", key+" is not a string")
		default:
			var text string
			if err := json.Unmarshal(raw, &text); err != nil {
				return q, refuseInput(key, string(raw), "a string", key+" is not a string")
			}
			texts[key] = text
		}
	}
	return q, q.fill(texts)
}

func (q *question) fill(texts map[string]string) error {
	q.schedule = job.Schedule{
		Cron:    texts["expr"],
		Dialect: job.Dialect(texts["dialect"]),
		Zone:    texts["zone"],
		Gap:     job.GapPolicy(texts["gap"]),
		Overlap: job.OverlapPolicy(texts["overlap"]),
	}
	if q.schedule.Cron == "" {
		return refuse("expr", "", "", "the cron expression is empty")
	}
	if q.schedule.Zone == "" {
		return refuseZone("")
	}
	var err error
	q.after, err = ParseTime("after", texts["after"])
	return err
}

func readCount(raw json.RawMessage) (int, error) {
	if string(raw) == "null" {
		return defaultCount, nil
	}
	n, err := strconv.Atoi(string(raw))
	if err != nil || n < 1 || n > mostCount {
		return 0, refuseInput("count", string(raw), "a whole number, 1-"+strconv.Itoa(mostCount), "count "+quote(string(raw))+" is out of range")
	}
	return n, nil
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
