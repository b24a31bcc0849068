package job

import (
	"net/netip"
	"regexp"
	"strings"
)

var hostForm = regexp.MustCompile(`^(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)

// Reach is what webhooks may call although it is not public. The zero value is
// nothing.
type Reach struct {
	Networks []netip.Prefix
	// Hosts are names, in lower case, whose addresses may be private; *.example.com
	// stands for every name below example.com. A name never opens loopback or
	// link-local addresses: whoever can change a name's addresses could else point it
	// at the worker itself.
	Hosts []string
}

// ParseReach reads IP addresses, networks in CIDR form and host names.
func ParseReach(words []string) (Reach, error) {
	var r Reach
	for _, word := range words {
		word = strings.ToLower(strings.TrimSpace(word))
		if network, err := netip.ParsePrefix(word); err == nil {
			r.Networks = append(r.Networks, network.Masked())
			continue
		}
		if address, err := netip.ParseAddr(word); err == nil && address.Zone() == "" {
			r.Networks = append(r.Networks, netip.PrefixFrom(address, address.BitLen()))
			continue
		}
		if len(word) > 253 || !hostForm.MatchString(word) {
			return Reach{}, invalid("webhook_allow", word, "IP addresses, networks in CIDR form, and host names with a dot", "\""+Shorten(word)+"\" is neither address, network nor host name", "write it as 10.1.2.3, 10.0.0.0/8, api.example.internal or *.example.internal")
		}
		r.Hosts = append(r.Hosts, word)
	}
	return r, nil
}

// Named tells whether a host is one of those that are allowed by name.
func (r Reach) Named(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	for _, allowed := range r.Hosts {
		if below, open := strings.CutPrefix(allowed, "*"); allowed == host || open && strings.HasSuffix(host, below) && len(host) > len(below) {
			return true
		}
	}
	return false
}
