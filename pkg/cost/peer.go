package cost

// Peer is what the same executions would cost elsewhere, the compute that runs
// the handlers left out there as here.
type Peer struct {
	Name string  `json:"name"`
	USD  float64 `json:"usd"`
	Note string  `json:"note"`
}

const (
	// expressGB is the least memory that an Express workflow is billed for.
	expressGB = 64.0 / 1024
	// actionsEach are the Actions of one execution of a Schedule (two for the
	// schedule, one for the workflow) and of one activity that does the work.
	actionsEach = 3 + 1
	listEnds    = 200 * million
)

// ActionTier is a step of Temporal Cloud's list: so many Actions a month at that
// price a million.
type ActionTier struct{ UpTo, USD float64 }

// ActionTiers are Temporal Cloud's volume prices (Business plan), as its
// documentation had them in the copy read on 2026-11-29 (repository
// temporalio/documentation, commit 0217b71). What lies beyond the list is priced
// like its last step.
var ActionTiers = []ActionTier{{5 * million, 50}, {10 * million, 45}, {20 * million, 40}, {50 * million, 35}, {100 * million, 30}, {listEnds, 25}}

func (in Input) peers() []Peer {
	executions := in.FiresPerMinute * monthMinutes
	attempts := executions * in.Attempts
	scheduler := price("scheduler").of(executions, in.FreeTier)
	invoked := price("lambda requests").of(attempts, in.FreeTier)
	peers := []Peer{
		{"EventBridge Scheduler", scheduler + invoked, "starts a target within its minute; keeps no record of what became of a time"},
		{"Step Functions Standard", scheduler + invoked + price("transitions").of(attempts, in.FreeTier), "one transition an attempt, started by EventBridge Scheduler"},
	}
	if in.RunSeconds <= 300 {
		express := price("express requests").of(executions, in.FreeTier) + price("express duration").of(attempts*in.RunSeconds*expressGB, in.FreeTier)
		peers = append(peers, Peer{"Step Functions Express", scheduler + invoked + express, "at least once, no history of its own, 5 minutes at most; started by EventBridge Scheduler"})
	}
	actions := executions * (actionsEach + in.Attempts - 1)
	return append(peers, Peer{"Temporal Cloud", temporal(actions), temporalNote(actions)})
}

// temporal is the cheaper one of the plans that have a list price: Developer
// ($50 a million, plus a tenth) or Business (volume prices, 2.5 million Actions
// included, plus the greater of $500 and a tenth).
func temporal(actions float64) float64 {
	developer := 1.1 * actions / million * 50
	usage, from := 0.0, 0.0
	left := max(actions-2.5*million, 0)
	for _, tier := range ActionTiers {
		part := min(left, tier.UpTo) - from
		if part <= 0 {
			break
		}
		usage, from = usage+part/million*tier.USD, tier.UpTo
	}
	usage += max(left-listEnds, 0) / million * ActionTiers[len(ActionTiers)-1].USD
	return min(developer, usage+max(500, 0.1*usage))
}

func temporalNote(actions float64) string {
	note := "four Actions an execution; storage and your workers come on top"
	if actions > listEnds+2.5*million {
		note += "; beyond 200 million Actions the price is agreed upon, here the last step of the list"
	}
	return note
}
