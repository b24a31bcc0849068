package schedule

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// ServePlans answers questions about outages, one JSON object a line:
//
//	{"id":"a","dialect":"unix","expr":"0 6 * * *","zone":"UTC","cursor":"2024-05-01T06:00:00Z",
//	 "down_from":"2024-05-01T12:00:00Z","up_at":"2024-05-06T12:00:00Z","start":null,"end":null,"dispatched":[],
//	 "gap":"","overlap":"","policy":{"misfire":"FIRE_ONCE","window_s":172800,"max":10,"tolerance_s":60}}
//
// with the times that are caught up, all that were missed, those that are on
// time when the scheduler is up again, and the next regular one,
//
//	{"id":"a","catchup":["2024-05-06T06:00:00Z"],"missed":{"count":5,"first":"2024-05-02T06:00:00Z","last":"2024-05-06T06:00:00Z"},
//	 "on_time_at_up":[],"next_regular":["2024-05-07T06:00:00Z"]}
//
// under COALESCE with "range":{"from","to","count"} too, or with an error as
// ServeNext has it. expr, zone, cursor and up_at are required. An absent policy
// is FIRE_ONCE; absent numbers mean no window, no cap and tolerance 0, while a
// window or a max that is given as 0 lets nothing run. Lines are read and
// answered as ServeNext does it.
func ServePlans(ctx context.Context, r io.Reader, w io.Writer) error {
	return serveLines(ctx, r, w, answerPlan)
}

// PlanAnswer is an Aftermath as JSON has it. Range is there under COALESCE.
type PlanAnswer struct {
	CatchUp []string      `json:"catchup"`
	Missed  MissedTimes   `json:"missed"`
	OnTime  []string      `json:"on_time_at_up"`
	Next    []string      `json:"next_regular"`
	Range   *CoveredRange `json:"range,omitempty"`
}

// MissedTimes is a Range as JSON has it; First and Last are null for none.
type MissedTimes struct {
	Count int     `json:"count"`
	First *string `json:"first"`
	Last  *string `json:"last"`
}

// CoveredRange is what one coalesced execution stands for: the stretch from
// From, inclusive, to To, and the number of missed times in it.
type CoveredRange struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Count int    `json:"count"`
}

// JSON renders an aftermath.
func (a Aftermath) JSON() PlanAnswer {
	out := PlanAnswer{CatchUp: texts(a.CatchUp), Missed: MissedTimes{Count: a.Missed.Count}, OnTime: texts(a.OnTime), Next: []string{}}
	if a.Missed.Count > 0 {
		first, last := a.Missed.First.Format(time.RFC3339), a.Missed.Last.Format(time.RFC3339)
		out.Missed.First, out.Missed.Last = &first, &last
	}
	if a.HasNext {
		out.Next = append(out.Next, a.Next.Format(time.RFC3339))
	}
	if a.Coalesces {
		out.Range = &CoveredRange{From: a.Covers.First.Format(time.RFC3339), To: a.Covers.Last.Format(time.RFC3339), Count: a.Covers.Count}
	}
	return out
}

func texts(list []time.Time) []string {
	out := make([]string, len(list))
	for i, at := range list {
		out[i] = at.Format(time.RFC3339)
	}
	return out
}

func answerPlan(line []byte) (id json.RawMessage, answer any, err error) {
	q, err := readOutage(line)
	if err != nil {
		return q.id, nil, err
	}
	plan, err := Compile(q.schedule, q.outage.UpAt)
	if err != nil {
		return q.id, nil, err
	}
	after, err := WhatIf(plan, q.outage)
	if err != nil {
		return q.id, nil, err
	}
	return q.id, planLine{ID: q.id, PlanAnswer: after.JSON()}, nil
}

type planLine struct {
	ID json.RawMessage `json:"id"`
	PlanAnswer
}

// outageQuestion is one line asked of ServePlans.
type outageQuestion struct {
	id       json.RawMessage
	schedule job.Schedule
	outage   Outage
}

func readOutage(line []byte) (outageQuestion, error) {
	var q outageQuestion
	in, err := readInput(line, "dialect", "expr", "zone", "cursor", "down_from", "up_at", "start", "end", "gap", "overlap", "dispatched", "policy")
	q.id = in.id
	if err != nil {
		return q, err
	}
	q.schedule = in.schedule()
	q.schedule.Start, q.schedule.End = in.optionalTime("start"), in.optionalTime("end")
	q.outage = Outage{Cursor: in.time("cursor"), DownFrom: in.optionalTime("down_from"), UpAt: in.time("up_at"), Dispatched: in.times("dispatched"), Misfire: in.misfire()}
	return q, in.err
}

// misfire reads the policy object.
func (in *input) misfire() job.Misfire {
	m := job.Misfire{Policy: job.MisfireFireOnce}
	raw, given := in.keys["policy"]
	if !given || in.err != nil {
		return m
	}
	policy, err := readObject(raw)
	if err != nil {
		in.refuse(refuseInput("policy", string(raw), "an object", "policy is not an object"))
		return m
	}
	for _, key := range slices.Sorted(maps.Keys(policy)) {
		field, raw := "policy."+key, policy[key]
		switch {
		case string(raw) == "null":
		case key == "misfire":
			m.Policy = in.policy(field, raw)
		case key == "window_s":
			m.Window = job.Duration(in.whole(field, raw)) * job.Duration(time.Second)
		case key == "max":
			m.Max = in.whole(field, raw)
		case key == "tolerance_s":
			m.Tolerance = job.Duration(in.whole(field, raw)) * job.Duration(time.Second)
		case key == "concurrency" && string(raw) == `"ALLOW"`:
		case key == "concurrency":
			in.refuse(withCode(job.CodeNotSupported, withFix(refuse(field, string(raw), "ALLOW", "what runs at once is decided when an execution begins, which no plan knows"),
				"leave it out")))
		default:
			in.refuse(withCode(job.CodeUnknownField, refuse(field, "", "misfire, window_s, max, tolerance_s", "%s is not a key of policy", quote(key))))
		}
	}
	if isZero(policy["max"]) || isZero(policy["window_s"]) {
		m = job.Misfire{Policy: job.MisfireSkip, Tolerance: m.Tolerance}
	}
	return m
}

// isZero tells whether 0 is written: nothing may run, where absent would mean
// no bound.
func isZero(raw json.RawMessage) bool { return string(raw) == "0" }

func (in *input) policy(field string, raw json.RawMessage) job.MisfirePolicy {
	var name string
	policies := []job.MisfirePolicy{job.MisfireSkip, job.MisfireFireOnce, job.MisfireFireAll, job.MisfireCoalesce}
	if err := json.Unmarshal(raw, &name); err == nil {
		for _, known := range policies {
			if name == string(known) {
				return known
			}
		}
	}
	in.refuse(refusePolicy(field, string(raw), "SKIP, FIRE_ONCE, FIRE_ALL or COALESCE"))
	return ""
}

// whole reads a number that is not negative; seconds up to 130 years.
func (in *input) whole(field string, raw json.RawMessage) int {
	n, err := strconv.Atoi(string(raw))
	if err != nil || n < 0 || n > horizon {
		in.refuse(refuseInput(field, string(raw), "a whole number from 0 up to "+strconv.Itoa(horizon), field+" is out of range"))
		return 0
	}
	return n
}
