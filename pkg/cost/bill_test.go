package cost

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// asked is an input with what matters most.
func asked(jobs int, fires float64, change ...func(*Input)) Input {
	in := Defaults()
	in.Jobs, in.FiresPerMinute = jobs, fires
	for _, c := range change {
		c(&in)
	}
	return in
}

func compute(t interface {
	Helper()
	Fatal(...any)
}, in Input) Bill {
	t.Helper()
	b, err := Compute(in)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func line(b Bill, name string) Line {
	for _, l := range b.Lines {
		if l.Name == name {
			return l
		}
	}
	return Line{}
}

// near reports whether a is b but for rounding.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Max(math.Abs(a), math.Abs(b)) }

func TestWhatAnExecutionWrites(t *testing.T) {
	rows := map[string]struct {
		in   Input
		each float64 // write units an execution
	}{
		"a job an hour pays its own advance":                      {asked(6000, 100), 6.04},
		"a job each minute does too":                              {asked(100, 100), 6.04},
		"a job each second shares one advance a minute":           {asked(100, 6000), 3.04 + 3.0/60},
		"every second execution failing once costs two each time": {asked(6000, 100, func(in *Input) { in.Attempts = 1.5 }), 6.04 + 0.5*2},
		"a minute under a lease of 30 s beats five times":         {asked(6000, 100, func(in *Input) { in.RunSeconds = 59 }), 6.04 + 5},
		"half an hour is handed off once as well": {asked(6000, 100, func(in *Input) { in.RunSeconds, in.PoolKind = 1800, "ecs" }),
			6.04 + 4 + beats(1800, 30)},
	}
	idle := line(compute(t, asked(0, 0)), "dynamodb_writes").Quantity
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			writes := line(compute(t, row.in), "dynamodb_writes").Quantity
			if got := (writes - idle) / (row.in.FiresPerMinute * monthMinutes); !near(got, row.each) {
				t.Errorf("%v write units an execution, want %v", got, row.each)
			}
		})
	}
}

func TestHeartbeatsGrowRareWithAge(t *testing.T) {
	for run, want := range map[float64]float64{0: 0, 9: 0, 11: 1, 59: 5, 3600: 57, 43200: 453} {
		if got := beats(run, 30); got != want {
			t.Errorf("an attempt of %v s beats %v times, want %v", run, got, want)
		}
	}
}

func TestRequestsToSQSFollowTheLoad(t *testing.T) {
	idle := line(compute(t, asked(0, 0)), "sqs_requests").Quantity
	for fires, each := range map[float64]float64{1: 4, 60: 4, 120: 2, 600: 0.4, 6000: 0.4} {
		got := (line(compute(t, asked(100000, fires)), "sqs_requests").Quantity - idle) / (fires * monthMinutes)
		if !near(got, each) {
			t.Errorf("at %v a minute an execution takes %v requests, want %v", fires, got, each)
		}
	}
}

func TestTheArchivesPutsFollowTheWindowAndThenTheLoad(t *testing.T) {
	for fires, each := range map[float64]float64{0: 0, 0.1: 0.3, 60: 0.8 + 180.0/3200, 6000: 0.8 + 18000.0/3200} {
		if got := line(compute(t, asked(100000, fires)), "s3_puts").Quantity / monthMinutes; !near(got, each) {
			t.Errorf("at %v a minute %v objects are stored a minute, want %v", fires, got, each)
		}
	}
	twice := line(compute(t, asked(1000, 100, func(in *Input) { in.Attempts = 2 })), "s3_storage").Quantity
	if once := line(compute(t, asked(1000, 100)), "s3_storage").Quantity; !near(twice/once, 5.0/3) {
		t.Errorf("a second attempt makes the archive %v times as large, want that of 5 rows in place of 3", twice/once)
	}
}

func TestAnIdleInstallation(t *testing.T) {
	small, large := compute(t, asked(0, 0)), compute(t, asked(0, 0, func(in *Input) { in.Shards = 4096 }))
	if got := line(small, "dynamodb_reads").Quantity / monthMinutes; got != 257+1*2 {
		t.Errorf("an idle minute with 256 shards reads %v units, want those that the bench counts and those of one API call", got)
	}
	// 3840 shards more are 3840 units a minute more.
	if got := line(large, "dynamodb_reads").USD - line(small, "dynamodb_reads").USD; !near(got, 3840*43800/1e6*0.125) {
		t.Errorf("4096 shards cost $%v more than 256", got)
	}
	if small.Handlers != 0 || small.PerMillion != 0 || small.Idle > small.Total {
		t.Errorf("%+v", small)
	}
}

func TestContainersCostByTheHourAndFunctionsByTheRun(t *testing.T) {
	ecs := func(in *Input) { in.PoolKind, in.RunSeconds, in.MemoryMB = "ecs", 60, 2048 }
	b := compute(t, asked(1000, 100, ecs)) // 100 run at a time: 7 workers of 16 slots
	if got := line(b, "fargate_cpu").Quantity; got != 7*730 {
		t.Errorf("%v vCPU-hours, want those of 7 workers", got)
	}
	if got := line(b, "fargate_memory").Quantity; got != 2*7*730 {
		t.Errorf("%v GB-hours", got)
	}
	// Two queues each, a long poll of 20 s.
	without := line(compute(t, asked(1000, 100, func(in *Input) { in.RunSeconds = 60 })), "sqs_requests").Quantity
	if got := line(b, "sqs_requests").Quantity - without; !near(got, 7*2*3*monthMinutes) {
		t.Errorf("%v empty polls of the workers", got)
	}
	if none := compute(t, asked(1000, 0, ecs)); none.Handlers != 0 {
		t.Errorf("a pool without work costs $%v, and it goes to zero", none.Handlers)
	}
	functions := compute(t, asked(1000, 60, func(in *Input) { in.RunSeconds, in.MemoryMB, in.Batch = 2, 1024, 1 }))
	if got := line(functions, "lambda_handlers").Quantity; !near(got, 60*2*monthMinutes) {
		t.Errorf("%v GB-s for the handlers", got)
	}
}

func TestThePeersAreReckonedByTheirLists(t *testing.T) {
	b := compute(t, asked(1000, 1e6/monthMinutes)) // a million a month
	want := map[string]float64{"EventBridge Scheduler": 1.2, "Step Functions Standard": 26.2, "Step Functions Express": 2.2 + 0.2/16*16.67, "Temporal Cloud": 4 * 50 * 1.1}
	for _, p := range b.Peers {
		if !near(p.USD, want[p.Name]) {
			t.Errorf("%s costs $%v, want $%v", p.Name, p.USD, want[p.Name])
		}
	}
	if len(b.Peers) != len(want) {
		t.Errorf("%d peers", len(b.Peers))
	}
	// The vendor's own example: 11.25 million in excess of the plan are $525, and the
	// plan is $500. The Developer plan has them for less.
	if got := temporal(13.75e6); !near(got, 1.1*13.75*50) {
		t.Errorf("13.75 million Actions cost $%v", got)
	}
	if got := temporal(102.5e6); !near(got, 525+8.75*40+30*35+50*30+500) {
		t.Errorf("102.5 million Actions cost $%v", got)
	}
}

func TestFreeAllowancesAreTakenOffOnlyWhenAsked(t *testing.T) {
	free := compute(t, asked(100, 10, func(in *Input) { in.FreeTier = true }))
	for _, name := range []string{"dynamodb_storage", "lambda_duration", "cloudwatch_dashboards", "scheduler"} {
		if got := line(free, name); got.USD != 0 || got.Quantity == 0 {
			t.Errorf("%s costs $%v for %v with free allowances", name, got.USD, got.Quantity)
		}
	}
	if listed := compute(t, asked(100, 10)); listed.Total <= free.Total || free.Peers[0].USD != 0 {
		t.Errorf("$%v by the list, $%v with free allowances; EventBridge Scheduler $%v", listed.Total, free.Total, free.Peers[0].USD)
	}
}

func TestEveryLineOfABusyMonthHasItsPrice(t *testing.T) {
	for _, kind := range []string{"lambda", "ecs"} {
		for _, chip := range []string{"arm64", "x86_64"} {
			b := compute(t, asked(1000, 1000, func(in *Input) { in.PoolKind, in.Architecture = kind, chip }))
			for _, l := range b.Lines {
				if l.Quantity <= 0 || l.Unit == "" || l.USD <= 0 && l.Name != "dynamodb_streams" {
					t.Errorf("with %s on %s: %+v", kind, chip, l)
				}
			}
		}
	}
}

func TestWhatIsOutOfBoundsIsNamed(t *testing.T) {
	rows := map[string]struct {
		in   Input
		want string
	}{
		"fewer than no jobs":                 {asked(-1, 0), "jobs: -1"},
		"a rate that is no number":           {asked(1, math.NaN()), "fires-per-minute: NaN"},
		"faster than every second":           {asked(2, 121), "up to 60 for each job"},
		"fires without jobs":                 {asked(0, 1), "jobs: 0"},
		"less than one attempt":              {asked(1, 1, func(in *Input) { in.Attempts = 0.5 }), "attempts: 0.5"},
		"a pool of another kind":             {asked(1, 1, func(in *Input) { in.PoolKind = "ec2" }), "pool-kind: ec2"},
		"a function that runs for an hour":   {asked(1, 1, func(in *Input) { in.RunSeconds = 3600 }), "pool-kind ecs"},
		"a function with too much memory":    {asked(1, 1, func(in *Input) { in.MemoryMB = 20000 }), "10240 for a function"},
		"half a message at a time":           {asked(1, 1, func(in *Input) { in.Batch = 0.5 }), "batch: 0.5"},
		"another processor":                  {asked(1, 1, func(in *Input) { in.Architecture = "amd64" }), "arm64 or x86_64"},
		"more shards than a layout can have": {asked(1, 1, func(in *Input) { in.Shards = 5000 }), "1 to 4096"},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			_, err := Compute(row.in)
			if err == nil || job.CodeOf(err) != job.CodeInvalid || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want it refused with %q", err, row.want)
			}
		})
	}
}

func TestTheSumIsThatOfItsLinesAndMoreNeverCostsLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := asked(rapid.IntRange(1, 1_000_000).Draw(t, "jobs"), 0)
		in.FiresPerMinute = rapid.Float64Range(0, min(60*float64(in.Jobs), 1e6)).Draw(t, "fires")
		in.Attempts = rapid.Float64Range(1, 5).Draw(t, "attempts")
		in.RunSeconds = rapid.Float64Range(0, 800).Draw(t, "run")
		in.PoolKind = rapid.SampledFrom([]string{"lambda", "ecs"}).Draw(t, "kind")
		in.FreeTier = rapid.Bool().Draw(t, "free")
		// A fuller batch does spare requests and invocations, so it stays the same.
		in.Batch = rapid.Float64Range(1, 10).Draw(t, "batch")
		b := compute(t, in)
		sum := 0.0
		for _, l := range b.Lines {
			if l.USD < 0 || math.IsNaN(l.USD) || math.IsInf(l.USD, 0) {
				t.Fatal(fmt.Sprint(l))
			}
			sum += l.USD
		}
		if !near(sum, b.Total) || b.Total < b.Idle-1e-9 {
			t.Fatalf("the lines are $%v, the total is $%v, idle $%v", sum, b.Total, b.Idle)
		}
		more := in
		more.FiresPerMinute /= 2
		more.Shards = 128
		for i, l := range compute(t, more).Lines {
			if l.USD > b.Lines[i].USD+1e-9 {
				t.Fatalf("half the load costs more for %s: $%v instead of $%v", l.Name, l.USD, b.Lines[i].USD)
			}
		}
	})
}
