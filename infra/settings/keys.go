package settings

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Key is one key of the settings, with its place in a Settings.
type Key struct {
	Path  string // such as api.authorizer
	Doc   string
	Bound string // which values are allowed, in words
	tag   reflect.StructTag
	value reflect.Value
}

// Keys lists every key of s in the order of the struct.
func Keys(s *Settings) []Key { return keys("", reflect.ValueOf(s).Elem()) }

func keys(path string, v reflect.Value) []Key {
	var found []Key
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name := path + field.Tag.Get("yaml")
		if field.Type.Kind() == reflect.Struct {
			found = append(found, keys(name+".", v.Field(i))...)
			continue
		}
		k := Key{Path: name, Doc: field.Tag.Get("doc"), tag: field.Tag, value: v.Field(i)}
		k.Bound = k.bound()
		found = append(found, k)
	}
	return found
}

func (k Key) bound() string {
	var b string
	switch {
	case k.tag.Get("one") != "":
		words := strings.Fields(k.tag.Get("one"))
		b = strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
	case k.tag.Get("least") != "":
		b = k.tag.Get("least") + " to " + k.tag.Get("most")
	case k.tag.Get("form") != "":
		b = "text like " + k.tag.Get("form")
	case k.value.Kind() == reflect.Bool:
		b = "true or false"
	case k.value.Kind() == reflect.Slice:
		b = "a list"
	default:
		b = "text"
	}
	if empty := k.tag.Get("empty"); empty != "" {
		b += "; empty: " + empty
	}
	return b
}

// Text is the key's value as a person would write it.
func (k Key) Text() string {
	if k.value.Kind() == reflect.Slice {
		words := make([]string, k.value.Len())
		for i := range words {
			words[i] = strings.Trim(fmt.Sprint(k.value.Index(i)), "{}")
		}
		return strings.Join(words, ", ")
	}
	return fmt.Sprint(k.value)
}

// set gives the key the value of a text, as the command line has it: lists are
// joined by commas.
func (k Key) set(text string) error {
	switch k.value.Kind() {
	case reflect.String:
		k.value.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return k.refuse(text, "is neither true nor false")
		}
		k.value.SetBool(b)
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return k.refuse(text, "is no whole number")
		}
		k.value.SetInt(int64(n))
	default:
		words, plain := k.value.Addr().Interface().(*[]string)
		if !plain {
			return k.refuse(text, "cannot be said on the command line; write it into the file")
		}
		*words = nil
		if strings.TrimSpace(text) == "" {
			return nil
		}
		for word := range strings.SplitSeq(text, ",") {
			*words = append(*words, strings.TrimSpace(word))
		}
	}
	return nil
}
