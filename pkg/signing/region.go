package signing

import (
	"net/url"
	"regexp"
)

var regional = regexp.MustCompile(`(?:^|\.)(?:execute-api|xray)\.([a-z]{2}(?:-[a-z]+)+-[0-9]+)\.(?:vpce\.)?(?:amazonaws\.com(?:\.cn)?|api\.aws)$`)

// RegionOf reads the region out of an address that AWS gives to APIs and to
// X-Ray; empty for any other, such as a domain of one's own.
func RegionOf(u *url.URL) string {
	found := regional.FindStringSubmatch(u.Hostname())
	if found == nil {
		return ""
	}
	return found[1]
}
