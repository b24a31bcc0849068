package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/pkg/cost"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

func (a *app) costCommand() *cobra.Command {
	in := cost.Defaults()
	var retention string
	c := &cobra.Command{Use: "cost", Short: "Reckon what an installation costs in a month, and what others would",
		Long: `Reckon the monthly bill of an installation line by line, from the units that
Belfry was measured to spend and from AWS's list prices in us-east-1. No service
is asked. docs/cost.md says where each figure comes from.`,
		Example: "  belfry cost --jobs 10000 --fires-per-minute 1000\n  belfry cost --jobs 50 --fires-per-minute 5 --pool-kind ecs --run-seconds 600 --memory-mb 2048 --json", Args: upTo(0)}
	f := c.Flags()
	f.IntVar(&in.Jobs, "jobs", in.Jobs, "jobs that are scheduled (needed)")
	f.Float64Var(&in.FiresPerMinute, "fires-per-minute", in.FiresPerMinute, "executions a minute of all jobs together, on average over the month (needed)")
	f.Float64Var(&in.Attempts, "attempts", in.Attempts, "attempts of an execution, on average")
	f.Float64Var(&in.RunSeconds, "run-seconds", in.RunSeconds, "how long one attempt runs, on average")
	f.IntVar(&in.MemoryMB, "memory-mb", in.MemoryMB, "memory of a function or of a container worker")
	f.StringVar(&in.PoolKind, "pool-kind", in.PoolKind, "what runs the handlers: lambda or ecs")
	f.Float64Var(&in.Batch, "batch", in.Batch, "messages that a function takes at a time, up to 10 (default as many as fall due in a second)")
	f.IntVar(&in.Slots, "slots", in.Slots, "executions at a time in one container worker")
	f.IntVar(&in.CPU, "cpu", in.CPU, "of one container worker, in 1/1024 of a processor")
	f.Float64Var(&in.LeaseSeconds, "lease-seconds", in.LeaseSeconds, "lease of the pool; a third of it lies between two heartbeats")
	f.StringVar(&retention, "retention", "30d", "how long ended executions are kept")
	f.IntVar(&in.Shards, "shards", in.Shards, "shards of the installation")
	f.IntVar(&in.Pools, "pools", in.Pools, "pools of the installation")
	f.Float64Var(&in.APICalls, "api-calls-per-minute", in.APICalls, "calls of the HTTP API")
	f.Float64Var(&in.Edits, "edits-per-day", in.Edits, "jobs created, edited or deleted")
	f.StringVar(&in.Architecture, "architecture", in.Architecture, "arm64 or x86_64")
	f.BoolVar(&in.FreeTier, "free-tier", false, "subtract what AWS gives for nothing each month, as if the account had no other use")
	c.RunE = func(c *cobra.Command, _ []string) error {
		for _, needed := range []string{"jobs", "fires-per-minute"} {
			if !c.Flags().Changed(needed) {
				return usage(c, "--%s is missing", needed)
			}
		}
		kept, err := job.ParseDuration(retention)
		if err != nil {
			return err
		}
		in.RetentionDays = kept.Std().Hours() / 24
		bill, err := cost.Compute(in)
		if err != nil {
			return err
		}
		return a.print(bill, func() { a.showBill(bill) })
	}
	return c
}

func (a *app) showBill(b cost.Bill) {
	prices := "list prices"
	if b.Input.FreeTier {
		prices = "list prices less free allowances"
	}
	fmt.Fprintf(a.out, "A month of %s jobs with %s executions in %s, at %s:\n\n", cost.Grouped(float64(b.Input.Jobs)), cost.Grouped(b.Executions), b.Region, prices)
	t := table{}
	t.row("SERVICE", "LINE", "USD", "QUANTITY", "")
	for _, l := range b.Lines {
		t.row(l.Service, spoken(l.Name), cost.Dollars(l.USD), cost.Grouped(l.Quantity)+" "+l.Unit, l.Note)
	}
	t.write(a.out)
	fmt.Fprintln(a.out)
	each := ""
	if b.Executions > 0 {
		each = fmt.Sprintf("$%s for a million executions", cost.Dollars(b.PerMillion))
	}
	sums := table{}
	sums.row("Belfry", cost.Dollars(b.Scheduling), each)
	sums.row("running the handlers", cost.Dollars(b.Handlers), "would cost about the same elsewhere")
	sums.row("total", cost.Dollars(b.Total), "of which $"+cost.Dollars(b.Idle)+" while nothing is due")
	sums.write(a.out)
	fmt.Fprintf(a.out, "\nThe same executions elsewhere, without running the handlers (Belfry: $%s):\n\n", cost.Dollars(b.Scheduling))
	others := table{}
	for _, p := range b.Peers {
		others.row(p.Name, cost.Dollars(p.USD), p.Note)
	}
	others.write(a.out)
}

// spoken is the name of a line as people read it, without its service.
func spoken(name string) string {
	_, rest, _ := strings.Cut(name, "_")
	if rest == "" || name == "http_api" {
		rest = name
	}
	return strings.ReplaceAll(rest, "_", " ")
}
