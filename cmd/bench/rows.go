package main

import "strconv"

// bound is a budget: the comparison that the figure must hold. The zero value
// bounds nothing: the figure is for information.
type bound struct {
	sign  string // "=", "≤" or "≥"
	value float64
}

func exactly(v float64) bound { return bound{"=", v} }
func atMost(v float64) bound  { return bound{"≤", v} }
func atLeast(v float64) bound { return bound{"≥", v} }

// of is the budget with its unit.
func (b bound) of(unit string) string {
	if b.sign == "" || unit == "" {
		return b.String()
	}
	return b.String() + " " + unit
}

// holds reports whether the figure keeps the budget.
func (b bound) holds(figure float64) bool {
	switch b.sign {
	case "=":
		return figure == b.value
	case "≤":
		return figure <= b.value
	case "≥":
		return figure >= b.value
	}
	return true
}

// String is the budget as people write it; a dash when there is none.
func (b bound) String() string {
	if b.sign == "" {
		return "–"
	}
	return b.sign + " " + short(b.value)
}

// row is one figure that a bench measures.
type row struct {
	name   string // of the figure in the JSON document
	bench  string // the bench that measures it
	unit   string
	budget bound
	what   string
}

// rows are all figures, in the order in which they are shown.
var rows = []row{
	{"recurring_wru", "budget", "WRU", exactly(6), "a recurring execution that has an advance of its own, from put to settle"},
	{"recurring_rru", "budget", "RRU", atMost(2.1), "the same in full pages, by workers that have just started and read every revision, look-backs included"},
	{"recurring_warm_rru", "budget", "RRU", bound{}, "the same by workers that have read the revisions before"},
	{"recurring_sqs", "budget", "requests", atMost(0.4), "requests to SQS of the same, in full batches, by the work function"},
	{"record_wru", "budget", "WRU", atMost(0.1), "what the stream consumer writes beside a recurring execution, in full batches"},
	{"oneoff_wru", "budget", "WRU", atMost(8), "a one-off from its first write to settle: head, due entry and revision at their plain price, put, advance, claim, settle"},
	{"oneoff_bill_wru", "budget", "WRU", bound{}, "a one-off's whole bill: as above, with the transaction's second price, the tenant's list entry and the audit entry"},
	{"manual_wru", "budget", "WRU", atMost(5), "a manual run, its wake-up included"},
	{"retry_wru", "budget", "WRU", bound{}, "what one failed attempt with a short retry adds"},
	{"late_wru", "budget", "WRU", bound{}, "catching up with one execution after four times passed unseen: plan, record of the range, put, advance, claim, settle"},
	{"create_wru", "budget", "WRU", bound{}, "the verb that creates a job whose first time lies beyond the horizon"},
	{"edit_wru", "budget", "WRU", bound{}, "the verb that gives it another schedule"},
	{"pause_wru", "budget", "WRU", bound{}, "the verb that pauses it"},
	{"resume_wru", "budget", "WRU", bound{}, "the verb that resumes it"},
	{"delete_wru", "budget", "WRU", bound{}, "the verb that deletes it"},
	{"idle_minute_rru", "budget", "RRU", atMost(300), "a minute in which nothing is due, 256 shards: a tick and all its scans"},
	{"idle_minute_wru", "budget", "WRU", atMost(2), "the same"},
	{"idle_minute_sqs", "budget", "requests", bound{}, "requests to SQS of the same: 16 scan messages, one tick message"},
	{"head_bytes", "budget", "bytes", atMost(1024), "the largest head of the jobs measured, one with every field that people usually set among them"},
	{"execution_bytes", "budget", "bytes", atMost(1024), "the largest execution measured, one with a retry among them"},

	{"idle_calls_more", "idle", "calls", exactly(0), "SDK calls that a tick and its scans make more with 100 000 idle jobs than with 1 000"},
	{"idle_calls", "idle", "calls", bound{}, "SDK calls of that tick and its scans with 1 000 idle jobs"},
	{"idle_rru_more", "idle", "RRU", exactly(0), "read units that it takes more with 100 000 idle jobs than with 1 000"},

	{"precision_p50_ms", "precision", "ms", atMost(20), "200 jobs, each every second, for 20 s: median of the handler's start after its second"},
	{"precision_p99_ms", "precision", "ms", atMost(100), "the same, 99th percentile"},
	{"precision_max_ms", "precision", "ms", bound{}, "the same, the latest"},
	{"precision_busy", "precision", "CPUs", bound{}, "processors that the process kept busy meanwhile; others on the machine beside it"},
	{"precision_early", "precision", "starts", exactly(0), "starts before their second"},
	{"precision_missing", "precision", "starts", exactly(0), "scheduled seconds that did not run exactly once"},

	{"burst_1000_last_ms", "burst", "ms", atMost(1000), "1 000 one-offs due on one second, made at least 20 s ahead: the last start after it"},
	{"burst_10000_last_ms", "burst", "ms", atMost(6000), "10 000 one-offs likewise"},
	{"burst_10000_cpu_ms", "burst", "ms", bound{}, "processor time of this process from that second to the last start: with two processors to itself it would take half as long"},
	{"burst_busy", "burst", "CPUs", bound{}, "processors that the process kept busy meanwhile; others on the machine beside it"},
	{"burst_early", "burst", "starts", exactly(0), "starts before the second"},
	{"burst_missing", "burst", "starts", exactly(0), "one-offs that did not run exactly once"},

	{"throughput_floor_ratio", "throughput", "", atLeast(0.7), "calls a second of scan and worker together, as a part of what the SDK alone reaches with the same calls on a stub"},
	{"throughput_cpu_ratio", "throughput", "", bound{}, "the same by processor time instead of the clock, which other work on the machine does not change"},
	{"throughput_busy", "throughput", "CPUs", bound{}, "processors that the process kept busy meanwhile; others on the machine beside it"},
	{"throughput_executions", "throughput", "1/s", bound{}, "executions from put to settle, a second"},
	{"throughput_calls", "throughput", "1/s", bound{}, "SDK calls made for them, a second"},
	{"throughput_floor", "throughput", "1/s", bound{}, "the same calls on a stub, a second"},
}

// benches are what the command line may name, in order.
var benches = []string{"budget", "idle", "precision", "burst", "throughput"}

// rowsOf are the rows that a bench measures.
func rowsOf(bench string) []row {
	var found []row
	for _, r := range rows {
		if r.bench == bench {
			found = append(found, r)
		}
	}
	return found
}

// short is a figure as people read it: about four digits.
func short(v float64) string {
	switch {
	case v == float64(int64(v)):
		return strconv.FormatInt(int64(v), 10)
	case v >= 1000:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
