package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// strictJSON reads JSON as it was meant: one value, and no key twice in an
// object, where the library would silently take the last one.
var strictJSON = huma.Format{
	Marshal: huma.DefaultJSONFormat.Marshal,
	Unmarshal: func(data []byte, v any) error {
		if _, checking := v.(*any); checking {
			if !utf8.Valid(data) {
				return errors.New("the body is not UTF-8")
			}
			if err := refuseRepeatedKeys(data); err != nil {
				return err
			}
		}
		err := json.Unmarshal(data, v)
		if misfit := (*json.UnmarshalTypeError)(nil); errors.As(err, &misfit) {
			return misfitting(misfit)
		}
		if err != nil {
			return fmt.Errorf("the body is not JSON: %w", err)
		}
		return nil
	},
}

// misfitting words a value that is JSON and yet cannot be taken: a number
// beyond the bounds, or one with a point where a whole one is expected. What
// has the wrong kind altogether was refused before, by name.
func misfitting(e *json.UnmarshalTypeError) error {
	where := ""
	if e.Field != "" {
		where = " at " + job.Shorten(e.Field)
	}
	return fmt.Errorf("the %s%s cannot be taken: numbers lie within ±1.7e308, whole ones are written without point and exponent", job.Shorten(e.Value), where)
}

// maxDepth bounds how deep objects and arrays may nest.
const maxDepth = 64

// refuseRepeatedKeys walks the tokens once. Broken JSON is left to the library,
// which words it.
func refuseRepeatedKeys(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	// One entry for each open object or array; nil for an array.
	var open []map[string]bool
	atKey := false
	for token, err := decoder.Token(); err == nil; token, err = decoder.Token() {
		switch token {
		case json.Delim('{'):
			open = append(open, map[string]bool{})
		case json.Delim('['):
			open = append(open, nil)
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		default:
			if key, isText := token.(string); isText && atKey {
				if open[len(open)-1][key] {
					return fmt.Errorf("the key %q is given twice", job.Shorten(key))
				}
				open[len(open)-1][key], atKey = true, false
				continue
			}
		}
		if len(open) > maxDepth {
			return fmt.Errorf("the body nests more than %d levels deep", maxDepth)
		}
		// After a value inside an object a key comes next; after { as well.
		atKey = len(open) > 0 && open[len(open)-1] != nil
	}
	return nil
}
