package stacks_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"testing"
)

// What a template says about the code that was built, and not about the stack.
var (
	assetHash = regexp.MustCompile(`[0-9a-f]{64}`)
	alikeHash = []byte("<hash>")
)

func TestTheTemplatesAreThoseThatWereReviewed(t *testing.T) {
	for _, profile := range []string{"small", "large"} {
		i := installed(t, "profile: "+profile)
		for _, word := range slices.Sorted(maps.Keys(i)) {
			t.Run(profile+"/"+word, func(t *testing.T) {
				var shown bytes.Buffer
				e := json.NewEncoder(&shown)
				e.SetEscapeHTML(false)
				e.SetIndent("", " ")
				if err := e.Encode(i[word].Raw); err != nil {
					t.Fatal(err)
				}
				golden(t, profile+"/"+word+".json", string(assetHash.ReplaceAll(shown.Bytes(), alikeHash)))
			})
		}
	}
}
