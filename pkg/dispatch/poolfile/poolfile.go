package poolfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// MaxFile is how many bytes a file may have.
const MaxFile = 64 << 10

// Faults is everything that is wrong with a file, in the order of its lines.
// Each names its line, from 1.
type Faults []*job.Error

// Error renders one line for each fault.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, e := range f {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the faults one by one.
func (f Faults) Unwrap() []error {
	all := make([]error, len(f))
	for i, e := range f {
		all[i] = e
	}
	return all
}

// Read reads the pools of a file and checks them. The error is Faults.
func Read(document []byte) (dispatch.Pools, error) {
	r := &reader{}
	pools := r.read(document)
	if len(r.faults) > 0 {
		slices.SortStableFunc(r.faults, func(a, b *job.Error) int { return a.Line - b.Line })
		return nil, r.faults
	}
	return pools, nil
}

// reader reads one file.
type reader struct {
	lines  lines
	faults Faults
}

func (r *reader) refuse(e *job.Error) {
	e.Line = r.lines.of(e.Field)
	r.faults = append(r.faults, e)
}

func (r *reader) read(document []byte) dispatch.Pools {
	list := r.list(document)
	if len(r.faults) > 0 {
		return nil
	}
	sound := make([]any, len(list))
	for i, item := range list {
		sound[i] = r.pool("pools["+strconv.Itoa(i)+"]", item)
	}
	text, err := json.Marshal(sound)
	if err != nil {
		r.refuse(notPools("the list holds what JSON has not: " + err.Error()))
		return nil
	}
	pools, err := dispatch.ReadPools(text)
	r.rest(err)
	return pools
}

// rest takes the refusals out of an error that may join several, but for those
// that follow from what was refused before.
func (r *reader) rest(err error) {
	var one *job.Error
	if joined, several := err.(interface{ Unwrap() []error }); several {
		for _, e := range joined.Unwrap() {
			r.rest(e)
		}
	} else if errors.As(err, &one) && !r.follows(one.Field) {
		r.refuse(one)
	}
}

// follows tells whether a refusal of that field says again what one of it, or of
// a part of it or of the whole around it, has said.
func (r *reader) follows(field string) bool {
	return slices.ContainsFunc(r.faults, func(e *job.Error) bool {
		return e.Field == field || field == "pools" || strings.HasPrefix(field, e.Field+".")
	})
}

// list is what the file holds under pools, or as a whole.
func (r *reader) list(document []byte) []any {
	if len(document) > MaxFile {
		r.refuse(&job.Error{Code: job.CodeTooLarge, Field: "file", Value: strconv.Itoa(len(document)), Bound: fmt.Sprintf("%d bytes", MaxFile),
			Message: "the file of pools is too long", Fix: "leave out what is no pool"})
		return nil
	}
	value, at, err := decode(document)
	if err != nil {
		r.faults = append(r.faults, syntax(err))
		return nil
	}
	r.lines = at
	if file, mapped := value.(map[string]any); mapped {
		for _, key := range slices.Sorted(maps.Keys(file)) {
			if key != "pools" {
				r.refuse(&job.Error{Code: job.CodeUnknownField, Field: key, Value: job.Shorten(key), Bound: "pools", Message: "not a file of pools: it has another key",
					Fix: "keep the list under pools, and nothing beside it"})
			}
		}
		value = file["pools"]
	}
	list, is := value.([]any)
	if !is && len(r.faults) == 0 {
		r.refuse(notPools("not a file of pools: there is no list of them"))
	}
	return list
}

func notPools(why string) *job.Error {
	return &job.Error{Code: job.CodeInvalid, Field: "pools", Bound: "a list of pools", Message: why, Fix: "write pools: and under it one - name: … for each, as infra/pools.yaml does"}
}

// pool judges the keys of one pool, each by itself, so that each is refused on
// its own line, and returns those that can be read.
func (r *reader) pool(field string, item any) map[string]any {
	keys, mapped := item.(map[string]any)
	if !mapped {
		r.refuse(&job.Error{Code: job.CodeInvalid, Field: field, Value: job.Shorten(fmt.Sprint(item)), Bound: "keys and values", Message: "this is no pool", Fix: "begin it with - name: …"})
		return map[string]any{}
	}
	sound := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		at := field + "." + key
		if !slices.Contains(dispatch.PoolKeys(), key) {
			r.refuse(&job.Error{Code: job.CodeUnknownField, Field: at, Value: job.Shorten(key), Bound: strings.Join(dispatch.PoolKeys(), ", "), Message: "no pool has this key", Fix: "leave it out"})
			continue
		}
		if r.value(at, key, keys[key]) {
			sound[key] = keys[key]
		}
	}
	return sound
}

// value tells whether a key's value can be read; bounds are judged by all keys
// together.
func (r *reader) value(at, key string, value any) bool {
	text, err := json.Marshal(map[string]any{key: value})
	if err == nil {
		err = json.Unmarshal(text, new(dispatch.Pool))
	}
	var known *job.Error
	var other *json.UnmarshalTypeError
	switch {
	case err == nil:
		return true
	case errors.As(err, &known):
		e := *known
		e.Field = at
		r.refuse(&e)
	default:
		bound := "a text"
		if errors.As(err, &other) {
			switch other.Type {
			case reflect.TypeFor[int]():
				bound = "a whole number"
			case reflect.TypeFor[job.Duration]():
				bound = "a duration, such as 30s"
			}
		}
		shown := job.Shorten(fmt.Sprint(value))
		r.refuse(&job.Error{Code: job.CodeInvalid, Field: at, Value: shown, Bound: bound, Message: fmt.Sprintf("%q is not %s", shown, bound), Fix: "change the key, or leave it out"})
	}
	return false
}

// syntax is the refusal of what does not read as YAML.
func syntax(err error) *job.Error {
	e := &job.Error{Code: job.CodeInvalid, Field: "file", Message: "it does not read as YAML: " + job.Shorten(err.Error()), Fix: "mend the YAML near this line", Line: 1}
	var located yaml.Error
	if errors.As(err, &located) {
		e.Message = "it does not read as YAML: " + job.Shorten(located.GetMessage())
		if t := located.GetToken(); t != nil && t.Position != nil {
			e.Line = max(t.Position.Line, 1)
		}
	}
	return e
}
