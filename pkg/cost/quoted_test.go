package cost

import (
	"os"
	"regexp"
	"strconv"
	"testing"
)

// saidBy finds the dollars that a document speaks of in these words.
func saidBy(t *testing.T, path, words string) float64 {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(words).FindSubmatch(text)
	if found == nil {
		t.Fatalf("%s does not say %s", path, words)
	}
	dollars, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return dollars
}

// TestWhatIsSaidOfAnIdleInstallationIsWhatItCosts holds the documents that say
// "about" to the bill, to the next dollar or two.
func TestWhatIsSaidOfAnIdleInstallationIsWhatItCosts(t *testing.T) {
	small := compute(t, asked(0, 0))
	wide := compute(t, asked(0, 0, func(in *Input) { in.Shards = 4096 }))
	sum := func(names ...string) (all float64) {
		for _, name := range names {
			all += line(small, name).USD
		}
		return all
	}
	watching := sum("cloudwatch_metrics", "cloudwatch_alarms", "cloudwatch_composite_alarms", "cloudwatch_dashboards")
	const deploy = "../../docs/deploy.md"
	for sentence, row := range map[string]struct{ said, costs float64 }{
		"the page about deploying":         {saidBy(t, deploy, `small. costs about \$(\d+) a month`), small.Idle},
		"with as many shards as large has": {saidBy(t, deploy, `4 096 shards make it about\s+\$(\d+)`), wide.Idle},
		"for being watched":                {saidBy(t, deploy, `\| \$(\d+) \| figures, alarms`), watching},
		"for traces":                       {saidBy(t, deploy, `\| \$(\d+) \| X-Ray`), sum("xray_traces")},
		"for polls":                        {saidBy(t, deploy, `\| \$(\d+) \| long polls`), sum("sqs_requests")},
		"the settings":                     {saidBy(t, "../../infra/settings/profile.go", `about \$(\d+) a month`), small.Idle},
		"the README":                       {saidBy(t, readmePath, `about \$(\d+) are paid while nothing is due`), small.Idle},
	} {
		if off := row.costs - row.said; off < -2 || off > 2 {
			t.Errorf("%s: $%v are said, $%.2f are computed", sentence, row.said, row.costs)
		}
	}
	if rest := small.Idle - watching - sum("xray_traces", "sqs_requests"); rest < 2 || rest > 4 {
		t.Errorf("the rest is $%.2f, and the page about deploying says $3", rest)
	}
}
