package cost

// Assumption is a figure that Belfry cannot count by itself.
type Assumption struct {
	Name   string
	Amount float64
	Unit   string
	Why    string
}

// Assumed are the assumptions. They err on the dear side where there is a doubt.
var Assumed = []Assumption{
	{"polled queues", 12, "queues", "Those that Lambda polls with the pools that ship: tick, scan, main and isolation queue of three pools, four dead-letter queues."},
	{"polls", 15, "receives a minute and queue", "Lambda keeps five long polls of 20 s on a queue, full or empty. SQS bills each."},
	{"scan invocations", 16, "a minute", "A tick fans out into 16 shard ranges, one message each."},
	{"tick invocations", 2, "a minute", "The tick's own chain and EventBridge's, of which the later one ends at once."},
	{"stream polls", 240, "a minute", "Lambda asks each of a stream's shards four times a second; about one shard while a table is small. It pays for them itself."},
	{"stream windows", 48, "invocations a minute", "Four shards, a batching window of 5 s; fewer when there are fewer changes."},
	{"stream batch", 500, "changes", "The batch size of the mapping."},
	{"archive windows", 0.8, "invocations a minute", "Four shards, a batching window of 300 s; fewer when there are fewer changes."},
	{"archive batch", 3200, "changes", "What 6 MB hold, the most that an invocation is handed: an execution before and after a change is 1.9 KB as JSON."},
	{"archive row", 50, "bytes", "A transition, packed with its like; 440 before."},
	{"archive months", 13, "months", "The 400 days that the archive is kept as it ships."},
	{"further changes", 2, "a further attempt", "Waiting, claimed."},
	{"changes", 3, "an execution", "Made, claimed, settled."},
	{"early wait", 0.5, "s a batch", "SQS delays by whole seconds, rounded down: a function waits out what is left, half a second on average, and is billed for it."},
	{"own work", 0.1, "s a batch", "Reading, claiming and settling around the handlers; four calls of about 10 ms and a margin."},
	{"scan time", 0.2, "s an invocation", "Eight to sixteen queries side by side."},
	{"scan time, due", 0.01, "s an execution", "Put, its share of a send, advance; many at a time."},
	{"tick time", 0.2, "s an invocation", ""},
	{"record time", 0.1, "s an invocation", ""},
	{"archive time", 0.5, "s an invocation", "A full batch took 0.3 s where it was measured."},
	{"api time", 0.1, "s a call", ""},
	{"tick memory", 0.25, "GB", "As the stack sets it."},
	{"scan memory", 0.5, "GB", "As the stack sets it."},
	{"record memory", 0.25, "GB", "As the stack sets it."},
	{"archive memory", 0.5, "GB", "As the stack sets it."},
	{"api memory", 0.5, "GB", "As the stack sets it."},
	{"api reads", 2, "RRU a call", "A head and a revision, or a page of a list."},
	{"retry reads", 1.5, "RRU a further attempt", "The execution before the claim, head or revision again."},
	{"retry requests", 2, "SQS requests a further attempt", "The message is hidden for the wait and received once more."},
	{"hand-off", 4, "WRU", "An attempt that runs longer than 15 min gives its message up: entry in the wake index, and out of it again."},
	{"item overhead", 100, "bytes an item", "DynamoDB adds them to what is stored."},
	{"job's other bytes", 1800, "bytes a job", "A revision of 1 KB, entries in two indexes, audit entries."},
	{"log bytes, invocation", 1500, "bytes", "The platform's own lines and figures in the embedded metric format."},
	{"log bytes, execution", 300, "bytes", "One line for each decision that is logged."},
	{"alarms", 72, "metrics", "What the alarms watch that the stack makes with the pools that ship, rounded up; an alarm about an expression is billed by each of its metrics."},
	{"composite alarms", 2, "alarms", "The two of the service level objective."},
	{"dashboards", 1, "dashboards", "As the stack makes it."},
	{"types", 1, "a metric", "Values of the dimension type: none, as the settings list no types of their own."},
	{"targets", 2, "a metric", "Values of the dimension target that occur."},
	{"reasons", 3, "a metric", "Values of the dimension reason that occur in a month."},
	{"trace floor", 60, "a minute and function", "X-Ray records the first request of each second."},
	{"trace share", 0.05, "of the rest", "X-Ray's default rule. Belfry makes no rule of its own."},
}

func assumed(name string) float64 {
	for _, a := range Assumed {
		if a.Name == name {
			return a.Amount
		}
	}
	return 0
}
