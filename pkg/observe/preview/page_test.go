package preview_test

import (
	"os"
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/observe"
	"github.com/belfry-scheduler/belfry/pkg/observe/preview"
)

// shipped is an installation with the pools that ship.
func shipped() observe.Site {
	s := observe.Site{Prefix: "belfry", Record: "belfry-record",
		Tables: []observe.SiteTable{{Table: "belfry-jobs"}, {Table: "belfry-jobs", Index: "due"}, {Table: "belfry-executions"},
			{Table: "belfry-executions", Index: "wake"}, {Table: "belfry-control"}},
		Functions: []string{"belfry-tick", "belfry-scan", "belfry-work-fast-io", "belfry-record", "belfry-api"}}
	for _, name := range []string{"fast-io", "external-api", "cpu-heavy", "long-running"} {
		s.Pools = append(s.Pools, observe.SitePool{Name: name, Queue: "belfry-" + name, DeadLetter: "belfry-" + name + "-dlq"})
	}
	return s
}

const path = "../../../docs/dashboard.html"

// UPDATE_GOLDEN=1 writes the page.
func TestTheDashboardIsDrawn(t *testing.T) {
	page, err := preview.Page(shipped())
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if written, err := os.ReadFile(path); err != nil || string(written) != page {
		t.Errorf("docs/dashboard.html is out of date (%v); run the test with UPDATE_GOLDEN=1", err)
	}
	for _, section := range observe.Dashboard(shipped()) {
		for _, w := range section.Widgets {
			if !strings.Contains(page, "<h3>"+w.Title+"</h3>") {
				t.Errorf("the page lacks %q", w.Title)
			}
		}
	}
	if strings.Contains(page, "NaN") || strings.Contains(page, "<script") || strings.Contains(page, "http") || strings.Contains(page, "ZgotmplZ") {
		t.Error("the page holds something that is no figure, a script or an address")
	}
	if strings.Contains(page, `<div class="number"></div>`) || strings.Count(page, `<div class="number">`) != 5 {
		t.Error("a number is not told")
	}
}
