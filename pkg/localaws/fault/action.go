package fault

import "time"

// Action is what becomes of one call. The zero value is Pass.
type Action struct {
	kind  kind
	delay time.Duration
}

type kind int

const (
	pass kind = iota
	throttle
	failBefore
	loseResponse
	crashBefore
	crashAfter
	conflict
)

var (
	// Pass lets the call through.
	Pass = Action{kind: pass}
	// Throttle answers with the service's own throttling error; nothing is
	// carried out.
	Throttle = Action{kind: throttle}
	// FailBefore answers with the service's internal error, status 500;
	// nothing is carried out.
	FailBefore = Action{kind: failBefore}
	// Conflict answers that another write of the same was under way, as S3 does
	// under a condition (409) and DynamoDB beside a transaction; nothing is
	// carried out. SQS knows no such answer, there it is FailBefore.
	Conflict = Action{kind: conflict}
	// LoseResponse carries the call out, then fails with a connection error.
	// The SDK will try again, not knowing.
	LoseResponse = Action{kind: loseResponse}
	// CrashBefore ends the process before the call is carried out: this call
	// and every later one of the Client fail, untried, and Crashed is closed.
	CrashBefore = Action{kind: crashBefore}
	// CrashAfter carries the call out, and then ends the process as
	// CrashBefore does.
	CrashAfter = Action{kind: crashAfter}
)

// Delay lets the call through after d.
func Delay(d time.Duration) Action { return Pass.After(d) }

// After has the same happen d later. The wait ends early with the call's
// context.
func (a Action) After(d time.Duration) Action {
	a.delay += d
	return a
}

// String names the action as test names show it.
func (a Action) String() string {
	name := [...]string{"pass", "throttle", "fail before", "lose response", "crash before", "crash after", "conflict"}[a.kind]
	if a.delay > 0 {
		name += " after " + a.delay.String()
	}
	return name
}
