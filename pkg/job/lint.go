package job

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/job/template"
)

// CodeBracesStay is the warning that braces look like templates and are none.
const CodeBracesStay = "BRACES_NOT_FILLED_IN"

// asked matches a template that asks for one of the names that there are.
var asked = regexp.MustCompile(`\{\{\s*(` + strings.Join(template.Names(), "|") + `)\b`)

// BracesStay tells of a job that does not say template: true although its payload
// or its target asks for something to be filled in: the field, and what asks; ""
// when there is no such thing.
func (d Definition) BracesStay() (field, what string) {
	if d.Template {
		return "", ""
	}
	if found := asked.FindString(string(d.Payload)); found != "" {
		return "payload", found + " …"
	}
	looking := &filling{look: func(of, text string) {
		if found := asked.FindString(text); found != "" && field == "" {
			field, what = of, found+" …"
		}
	}}
	looking.target(d.Target)
	return field, what
}

// BracesMessage words that warning.
func BracesMessage(field, what string) (message, fix string) {
	return fmt.Sprintf("%s holds %s, which is sent as it stands: the job does not say template: true", field, Shorten(what)), "say template: true for it to be filled in"
}
