package httpapi

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// fill gives every field of v a value of its own.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{"k": string(rune('a' + *n%26))}))
	case reflect.String:
		v.SetString(string(rune('a' + *n%26)))
	case reflect.Int:
		v.SetInt(int64(*n))
	case reflect.Bool:
		v.SetBool(true)
	default:
		panic("a field of a kind that is not filled: " + v.Kind().String())
	}
}

func TestEveryFieldOfEveryTargetSurvivesTheWire(t *testing.T) {
	members := reflect.TypeFor[job.Target]()
	for m := range members.NumField() {
		t.Run(members.Field(m).Name, func(t *testing.T) {
			var sent job.Target
			n := 0
			fill(reflect.ValueOf(&sent).Elem().Field(m), &n)
			body, err := json.Marshal(sent)
			if err != nil {
				t.Fatal(err)
			}
			var wire Target
			if err := strictJSON.Unmarshal(body, &wire); err != nil {
				t.Fatal(err)
			}
			if read := wire.target(); !reflect.DeepEqual(read, sent) {
				again, _ := json.Marshal(read)
				t.Errorf("sent %s\nread %s", body, again)
			}
		})
	}
}
