package target

import (
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestWhatATargetCallsHasOneName(t *testing.T) {
	hook := func(url string) job.Target { return job.Target{Webhook: &job.Webhook{URL: url}} }
	for says, row := range map[string]struct {
		target job.Target
		want   string
	}{
		"a webhook":                     {hook("https://api.example.com/v1/orders?key=secret"), "https://api.example.com:443"},
		"the same host, differently":    {hook("https://me:pass@API.Example.COM.:443/other"), "https://api.example.com:443"},
		"another scheme":                {hook("http://api.example.com/"), "http://api.example.com:80"},
		"another port":                  {hook("https://api.example.com:8443/"), "https://api.example.com:8443"},
		"an address of IPv6":            {hook("http://[2001:DB8::1]:8080/x"), "http://[2001:db8::1]:8080"},
		"a path with a template":        {hook("https://api.example.com/{{ .Job }}"), "https://api.example.com:443"},
		"a URL that is none":            {hook("https://%zz"), ""},
		"the log, which cannot be down": {job.Target{Log: &job.LogTarget{}}, ""},
	} {
		if got := resource(job.Definition{Target: row.target}); got != row.want {
			t.Errorf("%s is %q, want %q", says, got, row.want)
		}
	}
}
