package job

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

// Validate refuses a definition (with defaults filled in) that breaks a rule
// which needs no other knowledge. What the schedule means is checked by
// pkg/schedule; whether the pool exists and allows the timeout, by pkg/control.
func (d Definition) Validate() error {
	checks := []func() error{
		func() error { return CheckName("job", d.Job) },
		func() error { return CheckName("pool", d.Pool) },
		d.checkSchedule, d.Schedule.checkCalendars, d.checkPayload, d.checkTemplates, d.checkTimes, d.checkRetry, d.checkMisfire, d.checkTexts, d.checkUnbuilt, d.checkPayloadRef,
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func invalid(field, value, bound, message, fix string) error {
	return &Error{Code: CodeInvalid, Field: field, Value: Shorten(value), Bound: bound, Message: message, Fix: fix}
}

func (d Definition) checkSchedule() error {
	given := 0
	for _, set := range []bool{d.Schedule.Cron != "", d.Schedule.Every != 0, !d.Schedule.At.IsZero()} {
		if set {
			given++
		}
	}
	if given != 1 {
		return &Error{Code: CodeScheduleInvalid, Field: "schedule", Value: fmt.Sprint(given), Bound: "exactly one of cron, every, at",
			Message: fmt.Sprintf("a schedule needs exactly one of cron, every and at, but %d are given", given), Fix: addOrKeep(given) + " one of cron, every and at"}
	}
	return nil
}

// addOrKeep is what to do when given things are not exactly one.
func addOrKeep(given int) string {
	if given == 0 {
		return "add"
	}
	return "keep"
}

func (d Definition) checkPayload() error {
	if len(d.Payload) > MaxPayload {
		return &Error{Code: CodeTooLarge, Field: "payload", Value: fmt.Sprint(len(d.Payload)), Bound: "32768 bytes",
			Message: fmt.Sprintf("the payload is %d bytes of JSON", len(d.Payload)), Fix: "store it with belfry payload put FILE and pass the reference that it prints as payload_ref"}
	}
	if len(d.Payload) > 0 && !json.Valid(d.Payload) {
		return invalid("payload", string(d.Payload), "JSON", "the payload is not valid JSON", "send any JSON value")
	}
	return nil
}

func (d Definition) checkTimes() error {
	if d.Timeout < Duration(1e9) || d.Timeout > MaxTimeout {
		return invalid("timeout", d.Timeout.String(), "1s to 12h", "a timeout of "+d.Timeout.String()+" is out of bounds", "choose one from 1s to 12h")
	}
	if d.SuspendAfter < 0 || d.SuspendAfter > MaxSuspendAfter {
		return invalid("suspend_after", fmt.Sprint(d.SuspendAfter), "1 to 100", fmt.Sprintf("suspending after %d failures is out of bounds", d.SuspendAfter), "choose 1 to 100, or leave it out")
	}
	if d.StartDeadline != 0 && (d.StartDeadline < Duration(1e9) || d.StartDeadline > MaxStartDeadline) {
		return invalid("start_deadline", d.StartDeadline.String(), "1s to 30d", "a start deadline of "+d.StartDeadline.String()+" is out of bounds", "choose one from 1s to 30d, or leave it out")
	}
	return nil
}

func (d Definition) checkRetry() error {
	r := d.Retry
	switch {
	case r.MaxAttempts < 1 || r.MaxAttempts > 100:
		return invalid("retry.max_attempts", fmt.Sprint(r.MaxAttempts), "1 to 100", fmt.Sprintf("%d attempts are out of bounds", r.MaxAttempts), "choose 1 for no retry")
	case r.MaxLost < 1 || r.MaxLost > 20:
		return invalid("retry.max_lost", fmt.Sprint(r.MaxLost), "1 to 20", fmt.Sprintf("%d lost attempts are out of bounds", r.MaxLost), "choose 1 to 20")
	case r.Base < Duration(1e8) || r.Base > r.Max:
		return invalid("retry.base", r.Base.String(), "100ms up to retry.max", "a first wait of "+r.Base.String()+" is out of bounds", "choose 100ms up to retry.max")
	case r.Max > Duration(24*3600e9):
		return invalid("retry.max", r.Max.String(), "1d", "a wait of "+r.Max.String()+" is out of bounds", "choose up to 1d")
	case r.MaxAge < Duration(1e9) || r.MaxAge > Duration(14*24*3600e9):
		return invalid("retry.max_age", r.MaxAge.String(), "1s to 14d", "a maximum age of "+r.MaxAge.String()+" is out of bounds", "choose 1s to 14d")
	case r.MaxRun != 0 && (r.MaxRun < Duration(1e9) || r.MaxRun > Duration(14*24*3600e9)):
		return invalid("retry.max_run", r.MaxRun.String(), "1s to 14d", "a running time of "+r.MaxRun.String()+" for all attempts is out of bounds", "choose 1s to 14d, or leave it out")
	}
	return nil
}

// CheckOnResume refuses what is no policy of a resume; empty is none given.
func CheckOnResume(how OnResume) error {
	switch how {
	case "", ResumeFromNow, ResumeCatchUp:
		return nil
	}
	return &Error{Code: CodePolicyUnknown, Field: "on_resume", Value: Shorten(string(how)), Bound: "FROM_NOW, CATCH_UP",
		Message: "\"" + Shorten(string(how)) + "\" is no way to resume", Fix: "choose FROM_NOW or CATCH_UP"}
}

func (d Definition) checkMisfire() error {
	if err := CheckOnResume(d.OnResume); err != nil {
		return err
	}
	m := d.Misfire
	if m == nil {
		return nil
	}
	switch m.Policy {
	case MisfireSkip, MisfireFireOnce, MisfireFireAll, MisfireCoalesce:
	default:
		return &Error{Code: CodePolicyUnknown, Field: "misfire.policy", Value: Shorten(string(m.Policy)), Bound: "SKIP, FIRE_ONCE, FIRE_ALL, COALESCE",
			Message: "\"" + Shorten(string(m.Policy)) + "\" is no misfire policy", Fix: "choose one of SKIP, FIRE_ONCE, FIRE_ALL, COALESCE"}
	}
	if m.Max < 0 || m.Max > DefaultMisfireMax {
		return invalid("misfire.max", fmt.Sprint(m.Max), "1 to 1000", fmt.Sprintf("%d executions are out of bounds", m.Max), "choose 1 to 1000")
	}
	negative := func(field, value string) error {
		return invalid("misfire."+field, value, "not negative", "a "+field+" of "+value+" is negative", "write a positive "+field+", or leave it out")
	}
	switch {
	case m.Tolerance < 0:
		return negative("tolerance", m.Tolerance.String())
	case m.Window < 0:
		return negative("window", m.Window.String())
	case m.Rate < 0:
		return negative("rate", fmt.Sprint(m.Rate))
	case m.Rate != 0 && (m.Rate < MinRate || m.Rate > MaxRate):
		return invalid("misfire.rate", fmt.Sprint(m.Rate), fmt.Sprintf("%v to %v", MinRate, MaxRate), fmt.Sprintf("%v executions a second are out of bounds", m.Rate),
			fmt.Sprintf("choose %v to %v, or leave it out to make them all at once", MinRate, MaxRate))
	case m.Rate != 0 && m.Policy != MisfireFireAll:
		return invalid("misfire.rate", fmt.Sprint(m.Rate), "only with FIRE_ALL", string(m.Policy)+" runs one time at most, which needs no rate",
			"leave the rate out, or choose FIRE_ALL")
	}
	return nil
}

func (d Definition) checkTexts() error {
	if n := utf8.RuneCountInString(d.Description); n > MaxDescription {
		return invalid("description", fmt.Sprint(n), "1000 characters", fmt.Sprintf("the description has %d characters", n), "shorten it")
	}
	if len(d.Labels) > MaxLabels {
		return invalid("labels", fmt.Sprint(len(d.Labels)), "20", fmt.Sprintf("%d labels are given", len(d.Labels)), "keep 20 or fewer")
	}
	for _, key := range slices.Sorted(maps.Keys(d.Labels)) {
		value := d.Labels[key]
		if key == "" || len(key) > 63 || len(value) > 255 {
			return invalid("labels."+Shorten(key), value, "1 to 63 bytes a key, 255 a value", "the label is out of bounds", "shorten it")
		}
	}
	if d.Type != "" {
		if err := CheckName("type", d.Type); err != nil {
			return err
		}
	}
	switch d.Priority {
	case "low", "normal", "high":
		return nil
	}
	return &Error{Code: CodePolicyUnknown, Field: "priority", Value: Shorten(d.Priority), Bound: "low, normal, high",
		Message: "\"" + Shorten(d.Priority) + "\" is no priority", Fix: "choose low, normal or high"}
}

// checkUnbuilt refuses what the words of a job file already name but this
// build does not carry out: silently ignoring a promise would be worse.
func (d Definition) checkUnbuilt() error {
	unbuilt := func(field, what string) error {
		return &Error{Code: CodeNotSupported, Field: field, Message: what + " is not built yet in this version", Fix: "leave " + field + " out"}
	}
	switch {
	case d.Concurrency != ConcurrencyAllow && knownConcurrency(d.Concurrency):
		return unbuilt("concurrency", "the concurrency policy "+string(d.Concurrency))
	case d.Concurrency != ConcurrencyAllow:
		return &Error{Code: CodePolicyUnknown, Field: "concurrency", Value: Shorten(string(d.Concurrency)), Bound: "ALLOW, FORBID, SERIALIZE, REPLACE",
			Message: "\"" + Shorten(string(d.Concurrency)) + "\" is no concurrency policy", Fix: "choose ALLOW, or leave it out"}
	case len(d.Limits) > 0:
		return unbuilt("limits", "a limit")
	case d.Priority != "normal" && d.Priority != "":
		return unbuilt("priority", "a priority other than normal")
	}
	return nil
}

func knownConcurrency(c Concurrency) bool {
	return c == ConcurrencyForbid || c == ConcurrencySerialize || c == ConcurrencyReplace
}
