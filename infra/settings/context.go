package settings

import (
	"errors"
	"slices"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// CheckContext refuses names of the context that begin as settings do and are
// none, which would otherwise change nothing without a word. Beside the settings'
// own keys others are known.
func CheckContext(names []string, others ...string) error {
	known := slices.Clone(others)
	for _, k := range Keys(&Settings{}) {
		known = append(known, ContextPrefix+k.Path)
	}
	var faults []error
	for _, name := range slices.Sorted(slices.Values(names)) {
		if !strings.HasPrefix(name, ContextPrefix) || slices.Contains(known, name) {
			continue
		}
		faults = append(faults, &job.Error{Code: job.CodeInvalid, Field: name, Value: job.Shorten(name), Bound: "a key of docs/settings.md after " + ContextPrefix,
			Message: "\"" + job.Shorten(name) + "\" is no key of the settings", Fix: "did you mean " + nearest(name, known) + "?"})
	}
	return errors.Join(faults...)
}

// nearest is the known name that takes the fewest changes of a character.
func nearest(name string, known []string) string {
	return slices.MinFunc(known, func(a, b string) int { return distance(name, a) - distance(name, b) })
}

// distance is how many characters must be added, removed or replaced.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := before
			if a[i] != b[j] {
				replaced++
			}
			before = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
