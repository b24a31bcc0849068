package observe_test

import "github.com/belfry-scheduler/belfry/pkg/observe"

// site is an installation as it ships.
func site() observe.Site {
	s := observe.Site{Prefix: "belfry", Region: "eu-central-1", Record: "belfry-record", AlarmARN: "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:",
		Functions: []string{"belfry-api", "belfry-tick", "belfry-scan", "belfry-work-fast-io", "belfry-deadletter", "belfry-record"},
		Tables:    []observe.SiteTable{{Table: "belfry-jobs"}, {Table: "belfry-jobs", Index: "due"}, {Table: "belfry-executions"}, {Table: "belfry-executions", Index: "wake"}}}
	for _, name := range []string{"fast-io", "external-api", "cpu-heavy", "long-running"} {
		queue := "belfry-" + name
		s.Pools = append(s.Pools, observe.SitePool{Name: name, Queue: queue, Isolation: queue + "-isolation", DeadLetter: queue + "-dlq"})
	}
	return s
}
