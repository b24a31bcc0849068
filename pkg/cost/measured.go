package cost

// Unit is one figure that was counted by cmd/bench, or one part of such a figure.
type Unit struct {
	Name   string  // how this package calls it
	Figure string  // of `cmd/bench budget`
	Part   string  // of the figure; empty = the whole
	Amount float64 // as measured
	Each   string  // what it is spent for, each time
}

// Measured are the units, by the figure that they belong to. A test runs the
// bench and compares every amount, and that no part of a figure is missing here.
var Measured = []Unit{
	{"put", "recurring_wru", "put", 1, "execution"},
	{"advance", "recurring_wru", "advance", 3, "advance of a job"},
	{"claim", "recurring_wru", "claim", 1, "execution"},
	{"settle", "recurring_wru", "settle", 1, "execution"},
	{"lists", "record_wru", "write recent", 0.04, "execution"},
	{"failed attempt's claim", "retry_wru", "claim", 1, "further attempt"},
	{"failed attempt's settle", "retry_wru", "settle", 1, "further attempt"},
	{"edit", "edit_wru", "", 10, "edit of a job"},
	{"tick", "idle_minute_wru", "tick", 1, "minute"},

	{"due entry", "recurring_rru", "due", 0.015, "advance of a job"},
	{"head for the scan", "recurring_rru", "heads", 0.5, "advance of a job"},
	{"look back", "recurring_rru", "look back", 0.0625, "advance of a job"},
	{"head for the claim", "recurring_rru", "head", 1, "execution"},
	{"revision", "recurring_rru", "revision", 0.5, "execution"},
	{"layouts again", "recurring_rru", "layouts", 0.005, "execution"},
	{"waking", "recurring_rru", "waking", 0.005, "execution"},
	{"due index, idle", "idle_minute_rru", "due", 128, "minute and 256 shards"},
	{"wake index, idle", "idle_minute_rru", "waking", 128, "minute and 256 shards"},
	{"layouts", "idle_minute_rru", "layouts", 0.5, "minute"},
	{"sweeps", "idle_minute_rru", "sweeps", 0.5, "minute"},

	{"send", "recurring_sqs", "SendMessageBatch", 0.1, "execution, in batches of 10"},
	{"receive", "recurring_sqs", "ReceiveMessage", 0.1, "execution, in batches of 10"},
	{"hide", "recurring_sqs", "ChangeMessageVisibilityBatch", 0.1, "execution, in batches of 10"},
	{"delete", "recurring_sqs", "DeleteMessageBatch", 0.1, "execution, in batches of 10"},
	{"signals sent", "idle_minute_sqs", "SendMessageBatch", 3, "minute"},
	{"signals received", "idle_minute_sqs", "ReceiveMessage", 2, "minute"},
	{"signals deleted", "idle_minute_sqs", "DeleteMessageBatch", 2, "minute"},

	{"head's bytes", "head_bytes", "", 566, "job"},
	{"execution's bytes", "execution_bytes", "", 491, "execution kept"},
}

// measured is the amount of a unit. A name that the table does not have is a
// fault of this package, which its tests find: every call has a constant name.
func measured(names ...string) float64 {
	sum := 0.0
	for _, name := range names {
		for _, u := range Measured {
			if u.Name == name {
				sum += u.Amount
			}
		}
	}
	return sum
}
