package signing

import (
	"net"
	"net/url"
	"strings"
)

// private refuses an address to which a signed request would travel in clear:
// http, but for this machine itself.
func private(u *url.URL) error {
	if u.Scheme == "https" || isLoopback(u.Hostname()) {
		return nil
	}
	return &UnsentError{Message: "a signed request is not sent over " + u.Scheme + " to " + u.Host + ": it carries a session token that anybody on the way could read",
		Fix: "write the address with https://; http:// is for this machine alone (localhost, 127.0.0.1)"}
}

// isLoopback tells whether a host is this machine by its name or address alone.
// Names are not looked up: whoever answers for them could say anything.
func isLoopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
