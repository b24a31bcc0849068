package job

import (
	"errors"
	"fmt"
	"maps"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// checkTemplates holds the target and the payload against their rules as they
// will be, once filled in.
func (d Definition) checkTemplates() error {
	if !d.Template {
		return d.checkTarget()
	}
	if len(d.Target.kinds()) == 1 {
		filled, err := d.sampled()
		if err != nil {
			return err
		}
		d = filled
	}
	return d.checkTarget()
}

// CheckRendered refuses what a definition has become by being filled in, where an
// attempt could not be made with it.
func (d Definition) CheckRendered() error {
	if !d.Template {
		return nil
	}
	return d.checkTarget()
}

func (d Definition) checkTarget() error {
	t := d.Target
	set := t.kinds()
	if len(set) != 1 {
		fix := "keep one of " + strings.Join(set, " and ")
		if len(set) == 0 {
			fix = "add one of them"
		}
		return invalid("target", fmt.Sprint(len(set)), "exactly one of "+strings.Join(TargetKinds, ", "), fmt.Sprintf("a job needs exactly one target, but %d are given", len(set)), fix)
	}
	switch {
	case t.Webhook != nil:
		return t.Webhook.check()
	case t.Handler != nil:
		return CheckName("target.handler.name", t.Handler.Name)
	case t.Lambda != nil:
		return t.Lambda.check()
	case t.SQS != nil:
		return t.SQS.check()
	case t.SNS != nil:
		return t.SNS.check()
	case t.EventBridge != nil:
		return firstFault(t.EventBridge.check, d.checkObject)
	case t.StepFunctions != nil:
		return firstFault(t.StepFunctions.check, d.checkObject)
	case t.ECS != nil:
		return firstFault(t.ECS.check, d.checkOverrides)
	}
	if n := utf8.RuneCountInString(t.Log.Message); n > MaxDescription {
		return invalid("target.log.message", fmt.Sprint(n), "1000 characters", fmt.Sprintf("the message has %d characters", n), "shorten it, or put the data into the payload")
	}
	return nil
}

func firstFault(checks ...func() error) error {
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// reservedHeaders are Belfry's or the transport's to set; one that ends in "-"
// stands for all that begin so.
var reservedHeaders = []string{"Belfry-", "Webhook-", "Idempotency-Key", "Traceparent", "Content-Length", "Transfer-Encoding", "Connection", "Host"}

// checkURL refuses what no request can be sent to.
func checkURL(field, text string) error {
	if len(text) > 2048 {
		return invalid(field, text, "2048 bytes", fmt.Sprintf("the URL is %d bytes long", len(text)), "shorten it, or put the data into the payload")
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return invalid(field, text, "an absolute http or https URL", "\""+Shorten(text)+"\" is not an absolute http or https URL", "write it as https://host/path")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return invalid(field, port, "1 to 65535", "\""+Shorten(port)+"\" is not a port", "choose a port from 1 to 65535, or leave it out")
		}
	}
	if u.User != nil {
		return invalid(field, u.Redacted(), "no user or password in the URL", "the URL holds credentials, which would be shown to whoever may read the job", "send them in a header or sign the request")
	}
	return nil
}

func (w *Webhook) check() error {
	if err := checkURL("target.webhook.url", w.URL); err != nil {
		return err
	}
	if w.ConfirmURL != "" {
		if err := checkURL("target.webhook.confirm_url", w.ConfirmURL); err != nil {
			return err
		}
	}
	if len(w.Headers) > 32 {
		return invalid("target.webhook.headers", fmt.Sprint(len(w.Headers)), "32 headers", fmt.Sprintf("%d headers are given", len(w.Headers)), "keep 32 or fewer")
	}
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(w.Headers)) { // in order, so that the same input gets the same answer
		if err := checkHeader(name, w.Headers[name]); err != nil {
			return err
		}
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		if other, again := seen[canonical]; again {
			return invalid("target.webhook.headers."+Shorten(name), name, "each header once",
				"the headers \""+Shorten(other)+"\" and \""+Shorten(name)+"\" are the same one: capitals make no difference", "keep one of them")
		}
		seen[canonical] = name
	}
	return nil
}

func checkHeader(name, value string) error {
	field := "target.webhook.headers." + Shorten(name)
	if name == "" || len(name) > 128 || strings.ContainsFunc(name, func(r rune) bool { return !isTokenChar(r) }) {
		return invalid(field, name, "RFC 9110 token of up to 128 bytes", "\""+Shorten(name)+"\" is not a header name", "use letters, digits and '-'")
	}
	if len(value) > 2048 || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return invalid(field, value, "2048 printable bytes", "the header's value is too long or holds control characters", "shorten it to one printable line")
	}
	var reference *Error
	if _, _, _, err := SecretIn(value); errors.As(err, &reference) {
		return invalid(field, reference.Value, reference.Bound, reference.Message, reference.Fix)
	}
	canonical := textproto.CanonicalMIMEHeaderKey(name)
	for _, reserved := range reservedHeaders {
		if canonical == reserved || strings.HasSuffix(reserved, "-") && strings.HasPrefix(canonical, reserved) {
			return invalid(field, name, "not "+reserved, "the header "+canonical+" is set by Belfry itself", "choose another name")
		}
	}
	return nil
}

func isTokenChar(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}
