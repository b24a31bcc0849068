package target

import (
	"net/url"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// resource names the receiver of a webhook, as its circuit breaker knows it; empty
// where there is none.
func resource(d job.Definition) string {
	if d.Target.Webhook == nil {
		return ""
	}
	return receiver(d.Target.Webhook.URL)
}

// receiver is scheme, host and port of a URL. What it asks for there, and as whom,
// is left out: one host, one breaker, and no secret in its name.
func receiver(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	host, port := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), u.Port()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + host + ":" + port
}
