package job

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

var (
	functionForm  = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	qualifierForm = regexp.MustCompile(`^(\$LATEST|[a-zA-Z0-9_-]{1,128})$`)
	queueForm     = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,80}$`)
	topicForm     = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,256}$`)
	groupForm     = regexp.MustCompile(`^[!-~]{1,128}$`)
	busForm       = regexp.MustCompile(`^[/._a-zA-Z0-9-]{1,256}$`)
	lineForm      = regexp.MustCompile(`^[!-~]([ -~]*[!-~])?$`)
	machineForm   = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,80}(:[a-zA-Z0-9_-]{1,80})?$`)
	attributeForm = regexp.MustCompile(`^[a-zA-Z0-9_-]([a-zA-Z0-9_.-]{0,254}[a-zA-Z0-9_-])?$`)
)

// Bounds of messages.
const (
	// MaxAttributes are a job's own; SQS takes ten on a message, and Belfry sets five.
	MaxAttributes     = 5
	maxAttributeValue = 1024
)

const fifo = ".fifo"

// IsFIFO tells whether the queue or topic that a URL or an ARN names is one of
// first in, first out: their names end so.
func IsFIFO(name string) bool { return strings.HasSuffix(name, fifo) }

func (l *LambdaTarget) check() error {
	const field, bound = "target.lambda.function", "a function's name, or arn:aws:lambda:REGION:ACCOUNT:function:NAME"
	name, qualified := l.Function, false
	if strings.HasPrefix(name, "arn:") {
		a, _ := ParseARN(l.Function)
		rest, is := a.Name("function:")
		if a.Service != "lambda" || !is {
			return invalid(field, l.Function, bound, "\""+Shorten(l.Function)+"\" is not the ARN of a function", "copy the function's ARN, or write its name alone")
		}
		var version string
		if name, version, qualified = strings.Cut(rest, ":"); qualified && !qualifierForm.MatchString(version) {
			return invalid(field, l.Function, bound, "\""+Shorten(version)+"\" is not a version or alias", "name a version or an alias, or leave it out")
		}
	}
	if !functionForm.MatchString(name) {
		return invalid(field, l.Function, bound, "\""+Shorten(name)+"\" is not a function's name", "use 1 to 64 letters, digits, '-' or '_'")
	}
	switch {
	case l.Qualifier != "" && !qualifierForm.MatchString(l.Qualifier):
		return invalid("target.lambda.qualifier", l.Qualifier, "a version, an alias or $LATEST", "\""+Shorten(l.Qualifier)+"\" is not a version or alias", "name a version or an alias, or leave it out")
	case l.Qualifier != "" && qualified:
		return invalid("target.lambda.qualifier", l.Qualifier, "once, here or in the ARN", "the ARN names a version or alias already", "leave one of them out")
	case l.Invocation != "" && l.Invocation != InvocationSync && l.Invocation != InvocationAsync:
		return &Error{Code: CodePolicyUnknown, Field: "target.lambda.invocation", Value: Shorten(string(l.Invocation)), Bound: "sync, async",
			Message: "\"" + Shorten(string(l.Invocation)) + "\" is no way to invoke", Fix: "choose sync or async, or leave it out for sync"}
	}
	return nil
}

func (q *SQSTarget) check() error {
	const field, bound = "target.sqs.queue_url", "https://sqs.REGION.amazonaws.com/ACCOUNT/NAME"
	u, err := url.Parse(q.QueueURL)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || len(q.QueueURL) > 512 {
		return invalid(field, q.QueueURL, bound, "\""+Shorten(q.QueueURL)+"\" is not the URL of a queue", "copy the URL that SQS gives for the queue")
	}
	parts := strings.Split(strings.TrimPrefix(u.Path, "/"), "/")
	if len(parts) < 2 || !accountForm.MatchString(parts[len(parts)-2]) || len(parts[len(parts)-1]) > 80 || !queueForm.MatchString(strings.TrimSuffix(parts[len(parts)-1], fifo)) {
		return invalid(field, q.QueueURL, bound, "\""+Shorten(q.QueueURL)+"\" does not end in the account and the name of a queue", "copy the URL that SQS gives for the queue")
	}
	return firstFault(func() error { return checkGroup("target.sqs.group_id", q.GroupID) }, func() error { return checkAttributes("target.sqs.attributes", q.Attributes) })
}

func (s *SNSTarget) check() error {
	const field = "target.sns.topic_arn"
	a, _ := ParseARN(s.TopicARN)
	if a.Service != "sns" || len(a.Resource) > 256 || !topicForm.MatchString(strings.TrimSuffix(a.Resource, fifo)) {
		return invalid(field, s.TopicARN, "arn:aws:sns:REGION:ACCOUNT:NAME", "\""+Shorten(s.TopicARN)+"\" is not the ARN of a topic", "copy the topic's ARN")
	}
	if s.Subject != "" && (len(s.Subject) > 100 || !lineForm.MatchString(s.Subject)) {
		return invalid("target.sns.subject", s.Subject, "up to 100 printable ASCII characters, none of them a space at either end", "the subject cannot be sent", "shorten it, and keep to ASCII")
	}
	return firstFault(func() error { return checkGroup("target.sns.group_id", s.GroupID) }, func() error { return checkAttributes("target.sns.attributes", s.Attributes) })
}

func checkGroup(field, group string) error {
	if group != "" && !groupForm.MatchString(group) {
		return invalid(field, group, "1 to 128 letters, digits and punctuation", "\""+Shorten(group)+"\" is not a message group", "use letters, digits and punctuation without spaces, or leave it out")
	}
	return nil
}

func checkAttributes(field string, all map[string]string) error {
	if len(all) > MaxAttributes {
		return invalid(field, fmt.Sprint(len(all)), fmt.Sprintf("%d attributes", MaxAttributes), fmt.Sprintf("%d attributes are given: a message has ten, and Belfry sets five", len(all)),
			fmt.Sprintf("keep %d or fewer, or put the data into the payload", MaxAttributes))
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		of, lower := field+"."+Shorten(name), strings.ToLower(name)
		switch value := all[name]; {
		case !attributeForm.MatchString(name) || strings.Contains(name, ".."):
			return invalid(of, name, "1 to 256 letters, digits, '_', '-', and single dots within", "\""+Shorten(name)+"\" is not an attribute's name", "use letters, digits, '_' or '-'")
		case strings.HasPrefix(lower, "belfry") || lower == "idempotency_key" || lower == "traceparent" || strings.HasPrefix(lower, "aws.") || strings.HasPrefix(lower, "amazon."):
			return invalid(of, name, "not belfry…, idempotency_key, traceparent, AWS.… or Amazon.…", "the attribute "+Shorten(name)+" is set by Belfry or kept by AWS", "choose another name")
		case value == "" || len(value) > maxAttributeValue || strings.ContainsFunc(value, unsendable):
			return invalid(of, value, fmt.Sprintf("1 to %d bytes of text", maxAttributeValue), "the attribute's value cannot be sent", "give it some text without control characters, or leave the attribute out")
		}
	}
	return nil
}

// unsendable are the characters that SQS refuses in a message.
func unsendable(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '\uFFFE' || r == '\uFFFF' || r == '\uFFFD'
}

func (e *EventBridgeTarget) check() error {
	const field = "target.eventbridge."
	name := e.Bus
	if strings.HasPrefix(name, "arn:") {
		a, _ := ParseARN(e.Bus)
		bus, is := a.Name("event-bus/")
		if name = bus; !is || a.Service != "events" {
			name = ""
		}
	}
	switch {
	case e.Bus != "" && !busForm.MatchString(name):
		return invalid(field+"bus", e.Bus, "a bus's name, or arn:aws:events:REGION:ACCOUNT:event-bus/NAME", "\""+Shorten(e.Bus)+"\" is not an event bus", "copy the bus's name or ARN, or leave it out for the default bus")
	case len(e.Source) > 256 || !lineForm.MatchString(e.Source) || strings.HasPrefix(strings.ToLower(e.Source), "aws."):
		return invalid(field+"source", e.Source, "1 to 256 printable ASCII characters, not beginning with aws.", "\""+Shorten(e.Source)+"\" cannot be an event's source", "name your own system, such as com.example.billing")
	case len(e.DetailType) > 128 || !lineForm.MatchString(e.DetailType):
		return invalid(field+"detail_type", e.DetailType, "1 to 128 printable ASCII characters", "\""+Shorten(e.DetailType)+"\" cannot be an event's detail type", "say what happens, such as \"Nightly report due\"")
	case len(e.Resources) > 10:
		return invalid(field+"resources", fmt.Sprint(len(e.Resources)), "10 resources", fmt.Sprintf("%d resources are given", len(e.Resources)), "keep 10 or fewer")
	}
	for i, r := range e.Resources {
		if !strings.HasPrefix(r, "arn:") || len(r) > 2048 || !lineForm.MatchString(r) {
			return invalid(fmt.Sprintf("%sresources[%d]", field, i), r, "an ARN of up to 2048 bytes", "\""+Shorten(r)+"\" is not an ARN", "write the resource's whole ARN, or leave it out")
		}
	}
	return nil
}

func (s *StepFunctionsTarget) check() error {
	a, _ := ParseARN(s.StateMachineARN)
	if name, is := a.Name("stateMachine:"); a.Service != "states" || !is || !machineForm.MatchString(name) {
		return invalid("target.stepfunctions.state_machine_arn", s.StateMachineARN, "arn:aws:states:REGION:ACCOUNT:stateMachine:NAME",
			"\""+Shorten(s.StateMachineARN)+"\" is not the ARN of a state machine", "copy the state machine's ARN; a version or alias may follow behind a colon")
	}
	return nil
}
