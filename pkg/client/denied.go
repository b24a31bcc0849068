package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Denied means that a call was not let in: whoever stands before the API, such
// as the authorizer of API Gateway, refused it, and Belfry never saw it.
type Denied struct {
	URL     string
	Status  int       // 401 or 403
	Message string    // the gateway's own words, shortened; may be empty
	Kind    string    // its name for the refusal, such as AccessDeniedException; may be empty
	At      time.Time // its clock; zero when it did not tell
}

// Error says who refused and in which words.
func (e *Denied) Error() string {
	text := fmt.Sprintf("%s did not let the call in: %d %s", e.URL, e.Status, http.StatusText(e.Status))
	for _, more := range []string{e.Kind, e.Message} {
		if more != "" && more != http.StatusText(e.Status) {
			text += ", " + more
		}
	}
	return text
}

func (c *Client) denied(response *http.Response, data []byte) error {
	var body struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(data, &body) != nil {
		body.Message = strings.TrimSpace(string(data))
	}
	// The header names the kind, and at times a page about it after a colon.
	kind, _, _ := strings.Cut(response.Header.Get("X-Amzn-Errortype"), ":")
	at, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		at = time.Time{}
	}
	return &Denied{URL: c.base, Status: response.StatusCode, Message: job.Shorten(body.Message), Kind: job.Shorten(kind), At: at}
}
