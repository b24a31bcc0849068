package main

import (
	"encoding/json"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/cost"
)

func TestReckoningACost(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name string
		args []string
	}{
		{"help", []string{"--help"}},
		{"of ten thousand jobs", []string{"--jobs", "10000", "--fires-per-minute", "1000"}},
		{"of a few jobs in containers", []string{"--jobs", "50", "--fires-per-minute", "5", "--pool-kind", "ecs", "--run-seconds", "600", "--memory-mb", "2048"}},
		{"of nothing but jobs that wait", []string{"--jobs", "100000", "--fires-per-minute", "0"}},
		{"with free allowances", []string{"--jobs", "10", "--fires-per-minute", "1", "--free-tier"}},
		{"without the jobs", []string{"--fires-per-minute", "1"}},
		{"without the fires as JSON", []string{"--jobs", "1", "--json"}},
		{"with a flag that is no number", []string{"--jobs", "many", "--fires-per-minute", "1"}},
		{"out of bounds", []string{"--jobs", "1", "--fires-per-minute", "61"}},
		{"out of bounds as JSON", []string{"--jobs", "1", "--fires-per-minute", "1", "--attempts", "0.5", "--json"}},
		{"with a retention that is none", []string{"--jobs", "1", "--fires-per-minute", "1", "--retention", "a month"}},
		{"with an argument", []string{"--jobs", "1", "--fires-per-minute", "1", "nightly"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			golden(t, "cost "+row.name, belfry(t, "http://127.0.0.1:1", "", append([]string{"cost"}, row.args...)...))
		})
	}
}

func TestTheCostAsJSONIsTheWholeBill(t *testing.T) {
	t.Parallel()
	got := belfry(t, "http://127.0.0.1:1", "", "cost", "--jobs", "10000", "--fires-per-minute", "1000", "--retention", "7d", "--json")
	var bill cost.Bill
	if err := json.Unmarshal([]byte(got.out), &bill); err != nil || got.code != exitOK {
		t.Fatalf("%v: %+v", err, got)
	}
	in := cost.Defaults()
	in.Jobs, in.FiresPerMinute, in.RetentionDays = 10000, 1000, 7
	want, err := cost.Compute(in)
	if err != nil {
		t.Fatal(err)
	}
	if bill.Input != in || bill.Total != want.Total || len(bill.Lines) != len(want.Lines) || len(bill.Peers) != len(want.Peers) {
		t.Errorf("got %+v\nwant %+v", bill, want)
	}
}
