package job

import (
	"fmt"
	"slices"
	"strings"
)

// Bounds of an installation's list of job types. Every type is a value of a
// metric's dimension, which is paid for as long as it exists.
const (
	MaxTypes      = 20
	MaxTypeLength = 32 // an execution carries its type within its one write unit
)

// NoType is the word for a job without a type, and OtherType for one that the
// installation no longer lists, where figures are split by type. No type may be
// called so.
const (
	NoType    = "none"
	OtherType = "other"
)

// CheckTypes refuses a list of job types that is too long or holds a name that
// is out of bounds, said twice or taken. An empty list is fine: then no job has
// a type.
func CheckTypes(types []string) error {
	if len(types) > MaxTypes {
		return invalid("types", fmt.Sprint(len(types)), fmt.Sprint(MaxTypes), fmt.Sprintf("%d job types are listed", len(types)), "keep 20 or fewer")
	}
	for n, name := range types {
		if err := CheckName("types", name); err != nil {
			return err
		}
		switch {
		case len(name) > MaxTypeLength:
			return invalid("types", Shorten(name), fmt.Sprintf("%d characters", MaxTypeLength), "the job type \""+Shorten(name)+"\" is too long", "shorten it")
		case name == NoType || name == OtherType:
			return invalid("types", name, "any name but none and other", "\""+name+"\" is what figures call jobs without a listed type", "choose another name")
		case slices.Contains(types[:n], name):
			return invalid("types", name, "each name once", "the job type \""+name+"\" is listed twice", "name it once")
		}
	}
	return nil
}

// CheckType refuses a type that the list does not have. A job need not have one:
// an empty type is fine.
func CheckType(listed []string, name string) error {
	if name == "" || slices.Contains(listed, name) {
		return nil
	}
	bound, fix := strings.Join(listed, ", "), "choose one of the types, or leave it out"
	if len(listed) == 0 {
		bound, fix = "none", "leave it out, or list it in the installation's settings (types)"
	}
	return invalid("type", Shorten(name), bound, "there is no job type \""+Shorten(name)+"\" in this installation", fix)
}
