package settings

import (
	"encoding/json"
	"strconv"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Rules are the places by tenant, as the runtime reads them.
func (p Payloads) Rules() map[string][]string {
	rules := map[string][]string{}
	for _, place := range p {
		rules[place.Tenant] = append(rules[place.Tenant], place.From)
	}
	return rules
}

// Text is the text that functions and workers read the places from; empty: there is
// none.
func (p Payloads) Text() string {
	if len(p) == 0 {
		return ""
	}
	text, err := json.Marshal(p.Rules())
	if err != nil {
		panic(err) // texts alone
	}
	return string(text)
}

func (s Settings) checkPayloads() error {
	if most := 63 - len("-data-") - 12 - len("-") - longestRegion; len(s.Prefix) > most && s.Bucket.Name == "" {
		return refusal("prefix", s.Prefix, strconv.Itoa(most)+" characters without bucket.name", "makes the name of the bucket too long")
	}
	return job.CheckPayloadRules(s.Payloads.Rules())
}
