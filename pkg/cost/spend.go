package cost

import "math"

const (
	// Minutes of an average month, and hours.
	monthMinutes = 43_800
	monthHours   = 730
	dayMinutes   = 1440

	handOffSeconds = 900
	longestLease   = 300
	gigabyte       = 1 << 30
)

// load is what happens in a minute of an average month.
type load struct {
	Input
	fires    float64 // executions
	advances float64 // of jobs: one covers all times of a tick
	retries  float64 // further attempts
	batch    float64 // messages at a time
	tasks    float64 // container workers
}

func (in Input) load() load {
	l := load{Input: in, fires: in.FiresPerMinute, retries: in.FiresPerMinute * (in.Attempts - 1), batch: in.Batch}
	l.advances = min(l.fires, float64(in.Jobs))
	if l.batch == 0 {
		l.batch = min(max(l.fires/60, 1), 10)
	}
	if in.PoolKind == "ecs" && l.fires > 0 {
		running := (l.fires + l.retries) / 60 * in.RunSeconds
		l.tasks = max(math.Ceil(running/float64(in.Slots)), 1)
	}
	return l
}

// writes are the write request units of a minute.
func (l load) writes() float64 {
	attempt := beats(l.RunSeconds, l.LeaseSeconds)
	if l.RunSeconds > handOffSeconds {
		attempt += assumed("hand-off")
	}
	return l.fires*measured("put", "claim", "settle", "lists") + l.advances*measured("advance") +
		l.retries*measured("failed attempt's claim", "failed attempt's settle") + (l.fires+l.retries)*attempt +
		measured("tick") + l.Edits/dayMinutes*measured("edit")
}

// reads are the read request units of a minute.
func (l load) reads() float64 {
	idle := measured("due index, idle", "wake index, idle")*float64(l.Shards)/256 + measured("layouts", "sweeps")
	return idle + l.advances*measured("due entry", "head for the scan", "look back") +
		l.fires*measured("head for the claim", "revision", "layouts again", "waking") + l.retries*assumed("retry reads") + l.APICalls*assumed("api reads")
}

// stored are the gigabytes in the tables once the retention has filled.
func (l load) stored() float64 {
	kept := l.fires * l.RetentionDays * dayMinutes * (measured("execution's bytes") + assumed("item overhead"))
	jobs := float64(l.Jobs) * (measured("head's bytes") + assumed("job's other bytes") + 4*assumed("item overhead"))
	return (kept + jobs) / gigabyte
}

// requests are the requests to SQS of a minute.
func (l load) requests() float64 {
	const full = 10
	each := measured("send", "receive", "hide", "delete") * full / l.batch
	lanes := l.tasks * 2 * 60 / 20 // a container worker long-polls two queues
	return l.fires*each + l.retries*assumed("retry requests") + measured("signals sent", "signals received", "signals deleted") +
		assumed("polled queues")*assumed("polls") + lanes
}

// beats are the heartbeats of an attempt: one after each third of a lease, which
// grows with age to a third of it.
func beats(run, lease float64) float64 {
	n := 0.0
	for age := 0.0; ; n++ {
		age += min(max(lease, age/3), max(lease, longestLease)) / 3
		if age >= run {
			return n
		}
	}
}

// function is a function's minute.
type function struct{ invocations, seconds, memory float64 }

func (f function) gigabyteSeconds() float64 { return f.seconds * f.memory }

// functions are those of Belfry, the time of the handlers left out.
func (l load) functions() []function {
	changes := l.fires * assumed("changes")
	scans, ticks := assumed("scan invocations"), assumed("tick invocations")
	records := min(changes, assumed("stream windows")+changes/assumed("stream batch"))
	work := l.workInvocations()
	return []function{
		{work, work * (assumed("early wait") + assumed("own work")), l.memory()},
		{scans, scans*assumed("scan time") + l.fires*assumed("scan time, due"), assumed("scan memory")},
		{ticks, ticks * assumed("tick time"), assumed("tick memory")},
		{records, records * assumed("record time"), assumed("record memory")},
		{l.archived(), l.archived() * assumed("archive time"), assumed("archive memory")},
		{l.APICalls, l.APICalls * assumed("api time"), assumed("api memory")},
	}
}

// changes are those of executions in a minute that the archive keeps.
func (l load) changes() float64 {
	return l.fires*assumed("changes") + l.retries*assumed("further changes")
}

// archived are the archive's invocations of a minute, and so its objects: one of
// each batch, since all executions here are one tenant's.
func (l load) archived() float64 {
	return min(l.changes(), assumed("archive windows")+l.changes()/assumed("archive batch"))
}

// kept are the gigabytes in the archive once its time has filled.
func (l load) kept() float64 {
	return l.changes() * monthMinutes * assumed("archive months") * assumed("archive row") / gigabyte
}

// workInvocations are those that run handlers; a message that comes again after a
// failure comes alone.
func (l load) workInvocations() float64 {
	if l.PoolKind == "ecs" {
		return 0
	}
	return l.fires/l.batch + l.retries
}

func (l load) memory() float64 { return float64(l.MemoryMB) / 1024 }

// logged are the gigabytes of log of a minute.
func (l load) logged(invocations float64) float64 {
	return (invocations*assumed("log bytes, invocation") + (l.fires+l.retries)*assumed("log bytes, execution")) / gigabyte
}

// traced are the traces that X-Ray records in a minute.
func traced(functions []function) float64 {
	sum, floor := 0.0, assumed("trace floor")
	for _, f := range functions {
		sum += min(f.invocations, floor) + max(f.invocations-floor, 0)*assumed("trace share")
	}
	return sum
}
