package cost

import "github.com/belfry-scheduler/belfry/pkg/observe"

// Line is one line of the bill.
type Line struct {
	Name     string  `json:"name"`
	Service  string  `json:"service"`
	Quantity float64 `json:"quantity"` // a month
	Unit     string  `json:"unit"`
	USD      float64 `json:"usd"`
	Handlers bool    `json:"handlers"` // it pays for running the handlers, which would cost the same elsewhere
	Note     string  `json:"note,omitempty"`
}

// Bill is a month of an installation.
type Bill struct {
	Input      Input   `json:"input"`
	Executions float64 `json:"executions"` // a month
	Lines      []Line  `json:"lines"`
	Scheduling float64 `json:"scheduling_usd"` // all lines but the handlers'
	Handlers   float64 `json:"handlers_usd"`
	Total      float64 `json:"total_usd"`
	Idle       float64 `json:"idle_usd"` // of Total, what an installation costs in which nothing is due
	PerMillion float64 `json:"scheduling_usd_per_million"`
	Peers      []Peer  `json:"peers"`
	Region     string  `json:"region"`
}

// Compute is the bill of an input. The error is that of Input.Check.
func Compute(in Input) (Bill, error) {
	if err := in.Check(); err != nil {
		return Bill{}, err
	}
	b := Bill{Input: in, Executions: in.FiresPerMinute * monthMinutes, Lines: in.lines(), Peers: in.peers(), Region: Region}
	for _, line := range b.Lines {
		if line.Handlers {
			b.Handlers += line.USD
		} else {
			b.Scheduling += line.USD
		}
	}
	b.Total = b.Scheduling + b.Handlers
	idle := in
	idle.FiresPerMinute, idle.Jobs, idle.APICalls, idle.Edits = 0, 0, 0, 0
	for _, line := range idle.lines() {
		b.Idle += line.USD
	}
	if b.Executions > 0 {
		b.PerMillion = b.Scheduling / b.Executions * million
	}
	return b, nil
}

// lines are the lines of the bill, in the order in which they are shown.
func (in Input) lines() []Line {
	l := in.load()
	stored := l.stored()
	functions := l.functions()
	invocations, own := 0.0, 0.0
	for _, f := range functions {
		invocations += f.invocations
		own += f.gigabyteSeconds()
	}
	chip := " " + in.Architecture
	lines := []Line{
		in.line("dynamodb_writes", "DynamoDB", "wru", l.writes()*monthMinutes, ""),
		in.line("dynamodb_reads", "DynamoDB", "rru", l.reads()*monthMinutes, ""),
		in.line("dynamodb_storage", "DynamoDB", "storage", stored, "once the retention has filled"),
		in.line("dynamodb_backups", "DynamoDB", "pitr", stored, "point-in-time recovery"),
		{Name: "dynamodb_streams", Service: "DynamoDB", Quantity: assumed("stream polls") * monthMinutes, Unit: "stream reads", Note: "free when Lambda reads"},
		in.line("sqs_requests", "SQS", "sqs", l.requests()*monthMinutes, "most of them empty polls when little is due"),
		in.line("s3_puts", "S3", "puts", l.archived()*monthMinutes, "the archive's objects; once more for each further tenant"),
		in.line("s3_storage", "S3", "objects", l.kept(), "the archive, once its 400 days have filled"),
		in.line("lambda_requests", "Lambda", "lambda requests", invocations*monthMinutes, ""),
		in.line("lambda_duration", "Lambda", "lambda"+chip, own*monthMinutes, "without the handlers"),
	}
	return append(append(lines, l.handlerLines(chip)...), l.aroundLines(invocations, functions)...)
}

// handlerLines pay for the handlers' own time.
func (l load) handlerLines(chip string) []Line {
	var lines []Line
	if l.PoolKind == "ecs" {
		hours := l.tasks * monthHours
		lines = []Line{
			l.line("fargate_cpu", "Fargate", "vcpu"+chip, hours*float64(l.CPU)/1024, "workers that run all month"),
			l.line("fargate_memory", "Fargate", "memory"+chip, hours*l.memory(), ""),
			l.line("fargate_addresses", "VPC", "ipv4", hours, "none with NAT gateways, which cost more"),
		}
	} else {
		lines = []Line{l.line("lambda_handlers", "Lambda", "lambda"+chip, l.workInvocations()*l.RunSeconds*l.memory()*monthMinutes, "a batch runs its handlers side by side")}
	}
	for i := range lines {
		lines[i].Handlers = true
	}
	return lines
}

// aroundLines pay for what starts and watches it all.
func (l load) aroundLines(invocations float64, functions []function) []Line {
	return []Line{
		l.line("http_api", "API Gateway", "http api", l.APICalls*monthMinutes, ""),
		l.line("scheduler", "EventBridge", "scheduler", monthMinutes, "the minute tick"),
		l.line("cloudwatch_metrics", "CloudWatch", "metrics", published(l.Pools), "each only in the hours in which it is told"),
		l.line("cloudwatch_alarms", "CloudWatch", "alarms", assumed("alarms"), "by the metrics that they watch"),
		l.line("cloudwatch_composite_alarms", "CloudWatch", "composite alarms", assumed("composite alarms"), ""),
		l.line("cloudwatch_dashboards", "CloudWatch", "dashboards", assumed("dashboards"), ""),
		l.line("cloudwatch_logs", "CloudWatch", "logs", l.logged(invocations)*monthMinutes, "taken in; keeping them is 3 cents a GB"),
		l.line("xray_traces", "X-Ray", "traces", traced(functions)*monthMinutes, ""),
	}
}

func (in Input) line(name, service, priced string, quantity float64, note string) Line {
	p := price(priced)
	return Line{Name: name, Service: service, Quantity: quantity, Unit: p.Unit, USD: p.of(quantity, in.FreeTier), Note: note}
}

// published are the CloudWatch metrics that so many pools make: each figure as a
// whole, and once more for each value of each of its dimensions.
func published(pools int) float64 {
	n := 0.0
	for _, m := range observe.Metrics {
		n++
		for _, d := range m.By {
			n += map[observe.Dimension]float64{observe.Pool: float64(pools), observe.Type: assumed("types"), observe.Target: assumed("targets"),
				observe.Reason: assumed("reasons")}[d]
		}
	}
	return n
}
