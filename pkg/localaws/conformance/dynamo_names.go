package conformance

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// knownNames are the placeholders that cases may use without defining them.
var knownNames = map[string]string{"#size": "size", "#dotted": "dot.ted", "#hash": "#hash", "#n": "n", "#s": "s", "#l": "l", "#m": "m", "#pk": "pk", "#at": "at"}

var namePlaceholder = regexp.MustCompile(`#\w+`)

// usedNames defines the placeholders that expressions use; nil when they use
// none.
func usedNames(expressions ...string) map[string]string {
	var names map[string]string
	for _, placeholder := range namePlaceholder.FindAllString(strings.Join(expressions, " "), -1) {
		if name, known := knownNames[placeholder]; known {
			if names == nil {
				names = map[string]string{}
			}
			names[placeholder] = name
		}
	}
	return names
}

// describe renders the values of a case for its name.
func describe(with doc) string {
	text := ""
	for _, name := range slices.Sorted(maps.Keys(with)) {
		text += fmt.Sprintf(" %s=%v(%T)", name, with[name], with[name])
	}
	return strings.NewReplacer("conformance.", "", "<nil>(<nil>)", "null").Replace(text)
}
