package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// lateText says what becomes of times that are late.
func lateText(d *job.Definition) string {
	var parts []string
	if m := d.Misfire; m != nil {
		parts = append(parts, string(m.Policy)+" of what is late by more than "+m.Tolerance.String())
		if m.Window > 0 {
			parts = append(parts, "up to "+m.Window.String())
		}
		if m.Policy == job.MisfireFireAll {
			parts = append(parts, fmt.Sprintf("%d at most", m.Max))
		}
		if m.Rate > 0 {
			parts = append(parts, rateText(m.Rate))
		}
	}
	if d.OnResume == job.ResumeCatchUp {
		parts = append(parts, "those of a pause, too")
	}
	if d.StartDeadline > 0 {
		parts = append(parts, "a worker has to begin within "+d.StartDeadline.String())
	}
	return strings.Join(parts, ", ")
}

func suspendText(d *job.Definition) string {
	if d.SuspendAfter == 0 {
		return ""
	}
	return fmt.Sprintf("after %d %s in a row", d.SuspendAfter, plural(d.SuspendAfter, "failure", "failures"))
}

func labelsText(labels map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, key+"="+labels[key])
	}
	return strings.Join(parts, ", ")
}
