package jsonread_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/jsonread"
)

// generic reads any JSON into what encoding/json would make of it.
func generic(r *jsonread.Reader) (any, error) {
	raw, err := r.Raw()
	if err != nil {
		return nil, err
	}
	switch raw[0] {
	case '{', '[':
		return nested(raw)
	case '"':
		again, err := jsonread.New(raw)
		if err != nil {
			return nil, err
		}
		return again.String()
	case 't', 'f':
		return raw == "true", nil
	case 'n':
		return nil, nil
	default:
		var number float64
		err := json.Unmarshal([]byte(raw), &number)
		return number, err
	}
}

func nested(raw string) (any, error) {
	r, err := jsonread.New(raw)
	if err != nil {
		return nil, err
	}
	if raw[0] == '[' {
		list := []any{}
		err := r.Array(func() error {
			element, err := generic(r)
			list = append(list, element)
			return err
		})
		return list, err
	}
	object := map[string]any{}
	err = r.Object(func(name string) error {
		value, err := generic(r)
		object[name] = value
		return err
	})
	return object, err
}

// FuzzReader: what it takes is JSON and means what encoding/json says; what
// encoding/json takes, it takes, numbers beyond float64 apart.
func FuzzReader(f *testing.F) {
	for _, text := range []string{`{"a":[1,2.5e3,-0],"b":{"c":null,"d":true}}`, `"\u00e9\ud83d\ude00\ud800\"\\\/\b\f\n\r\t"`, ` [ ] `, `{"a":1,}`, `[1 2]`, `"\x"`, "\"\x01\"", `01`, `1.`, `tru`, `nullx`, `{"a"`, `"\u12"`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := jsonread.New(text)
		var got any
		if err == nil {
			got, err = generic(r)
		}
		if err == nil {
			err = r.End()
		}
		var want any
		if wantErr := json.Unmarshal([]byte(text), &want); wantErr != nil {
			if err == nil && !json.Valid([]byte(text)) {
				t.Errorf("%q is taken as %v; encoding/json says %v", text, got, wantErr)
			}
			return
		}
		if err != nil {
			return // stricter: depth, UTF-8
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %#v, want %#v", text, got, want)
		}
	})
}

func TestPlainJSONIsTaken(t *testing.T) {
	for _, text := range []string{`{"a":[1,2.5e3,-0],"b":{"c":null,"d":true}}`, `"\u00e9\ud83d\ude00"`, ` [ ] `, ` { } `, `0`, `"é"`} {
		r, err := jsonread.New(text)
		if err == nil {
			_, err = r.Raw()
		}
		if err == nil {
			err = r.End()
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
