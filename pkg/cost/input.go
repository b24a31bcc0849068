package cost

import (
	"fmt"
	"math"
	"strconv"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Input says what an installation is to do. Defaults gives what most leave as it is.
type Input struct {
	Jobs           int     `json:"jobs"`
	FiresPerMinute float64 `json:"fires_per_minute"` // of all jobs together, on average over the month
	Attempts       float64 `json:"attempts"`         // of an execution, on average
	RunSeconds     float64 `json:"run_seconds"`      // of one attempt, on average
	MemoryMB       int     `json:"memory_mb"`        // of one function or one container worker
	PoolKind       string  `json:"pool_kind"`        // lambda or ecs
	Batch          float64 `json:"batch"`            // messages that a function takes at a time; zero = as many as fall due in a second, 10 at most
	Slots          int     `json:"slots"`            // executions at a time in one container worker
	CPU            int     `json:"cpu"`              // of one container worker, in 1/1024 of a processor
	LeaseSeconds   float64 `json:"lease_seconds"`    // of the pool
	RetentionDays  float64 `json:"retention_days"`   // how long ended executions are kept
	Shards         int     `json:"shards"`
	APICalls       float64 `json:"api_calls_per_minute"`
	Edits          float64 `json:"edits_per_day"` // creates, edits and deletes of jobs
	Architecture   string  `json:"architecture"`  // arm64 or x86_64
	Pools          int     `json:"pools"`         // each has metrics of its own
	FreeTier       bool    `json:"free_tier"`     // subtract what is free for good, as if the account had nothing else
}

// Defaults is an installation as the stack makes it, without any job yet.
func Defaults() Input {
	return Input{Attempts: 1, RunSeconds: 0.2, MemoryMB: 512, PoolKind: "lambda", Slots: 16, CPU: 1024, LeaseSeconds: 30, RetentionDays: 30, Shards: 256,
		APICalls: 1, Architecture: "arm64", Pools: 4}
}

// bound is what a field may be.
type bound struct {
	field       string
	value       float64
	least, most float64
}

// Check names the first field that is out of bounds, as a *job.Error.
func (in Input) Check() error {
	bounds := []bound{
		{"jobs", float64(in.Jobs), 0, 1e8},
		{"fires-per-minute", in.FiresPerMinute, 0, 1e7},
		{"attempts", in.Attempts, 1, 100},
		{"run-seconds", in.RunSeconds, 0, 43200},
		{"memory-mb", float64(in.MemoryMB), 128, 122880},
		{"batch", in.Batch, 0, 10},
		{"slots", float64(in.Slots), 1, 10000},
		{"cpu", float64(in.CPU), 256, 16384},
		{"lease-seconds", in.LeaseSeconds, 5, 300},
		{"retention-days", in.RetentionDays, 0, 3653},
		{"shards", float64(in.Shards), 1, 4096},
		{"api-calls-per-minute", in.APICalls, 0, 1e6},
		{"edits-per-day", in.Edits, 0, 1e8},
		{"pools", float64(in.Pools), 1, 100},
	}
	for _, b := range bounds {
		if math.IsNaN(b.value) || b.value < b.least || b.value > b.most {
			return refuse(b.field, plain(b.value), plain(b.least)+" to "+plain(b.most))
		}
	}
	switch {
	case in.PoolKind != "lambda" && in.PoolKind != "ecs":
		return refuse("pool-kind", in.PoolKind, "lambda or ecs")
	case in.Architecture != "arm64" && in.Architecture != "x86_64":
		return refuse("architecture", in.Architecture, "arm64 or x86_64")
	case in.Batch > 0 && in.Batch < 1:
		return refuse("batch", plain(in.Batch), "1 to 10, or 0 for as many as fall due in a second")
	case in.PoolKind == "lambda" && in.MemoryMB > 10240:
		return refuse("memory-mb", strconv.Itoa(in.MemoryMB), "128 to 10240 for a function")
	case in.PoolKind == "lambda" && in.RunSeconds > 840:
		return refuse("run-seconds", plain(in.RunSeconds), "0 to 840 in a function; longer with pool-kind ecs")
	case in.Jobs == 0 && in.FiresPerMinute > 0:
		return refuse("jobs", "0", "1 or more when there are fires")
	case in.FiresPerMinute > 60*float64(in.Jobs):
		return refuse("fires-per-minute", plain(in.FiresPerMinute), "up to 60 for each job, as none is due more often than every second")
	}
	return nil
}

func refuse(field, value, allowed string) error {
	return &job.Error{Code: job.CodeInvalid, Field: field, Value: job.Shorten(value), Bound: allowed,
		Message: fmt.Sprintf("%s is out of bounds", job.Shorten(value)), Fix: "choose " + allowed}
}

func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
