package schedule

import (
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// What a refusal says to do must work, or lead there.
func TestRefusalsSayWhatToDo(t *testing.T) {
	const unix, quartz, aws = job.DialectUnix, job.DialectQuartz, job.DialectAWS
	for what, c := range map[string]struct {
		dialect job.Dialect
		text    string
		says    string
	}{
		"hours that run backwards":                {unix, "0 22-2 * * *", "write 22-23,0-2"},
		"from Saturday on":                        {unix, "0 0 * * sat-mon", "write 6,0-1"},
		"from Sunday as 7 on, which is no 6":      {unix, "0 0 * * 7-2", "; write 0-2"},
		"backwards in steps":                      {unix, "0 22-2/2 * * *", "if both ends of the field are meant, list the values"},
		"a hash of the job's name":                {unix, "H * * * *", "jitter: 10m"},
		"a hash within a range":                   {unix, "H(0-29)/10 * * * *", "jitter: 10m"},
		"a random minute":                         {unix, "0~30 * * * *", "jitter: 10m"},
		"hour 24":                                 {quartz, "0 0 24 * * ?", "out of range 0-23; midnight is hour 0"},
		"years backwards":                         {quartz, "0 0 0 * * ? 2030-2026", "; write the earlier year first"},
		"a wrapper that is open":                  {aws, "cron(0 10 * * ? *", "write cron(…) once around all of the fields"},
		"a wrapper in capitals":                   {aws, "CRON(0 10 * * ? *)", "in lower case"},
		"a wrapper in a wrapper":                  {aws, "cron(cron(0 10 * * ? *))", "once around all of the fields"},
		"a wrapper in another dialect":            {unix, "cron(0 10 * * ? *)", "name dialect aws"},
		"a duration":                              {unix, "5m", "every: 5m"},
		"a duration in words":                     {unix, "every 5 minutes", "every: 5m"},
		"an element that no day is, where L-n is": {quartz, "0 0 0 LL * ?", "1-31, L, LW, nW such as 15W, L-n or L-nW"},
		"and where it is not":                     {unix, "0 0 LL * *", "1-31, L, LW or nW such as 15W)"},
		"an element that no weekday is":           {aws, "0 0 ? * L-2 *", "or a name SUN-SAT, L, nL or d#n"},
		"a day that does not come":                {unix, "0 0 31 4 *", "April, June, September and November have 30 days"},
		"a fifth weekday that does not come":      {aws, "0 0 ? 2 2#5 2027", "a fifth weekday only then"},
	} {
		_, err := Compile(job.Schedule{Cron: c.text, Dialect: c.dialect}, time.Time{})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q: %v, want %q", what, c.text, err, c.says)
		}
	}
	for what, c := range map[string]struct {
		schedule job.Schedule
		says     string
	}{
		"no kind":             {job.Schedule{Zone: "UTC"}, "none of cron, every and at is given, or every is 0"},
		"two kinds":           {job.Schedule{Cron: "@daily", Every: job.Duration(time.Hour)}, "more than one of cron, every and at"},
		"a jitter of an hour": {job.Schedule{Cron: "@daily", Jitter: job.Duration(time.Hour)}, "a jitter of 1h is not possible (allowed: whole seconds up to 10m)"},
	} {
		if _, err := Compile(c.schedule, time.Time{}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", what, err, c.says)
		}
	}
}

// Of several faults in one line the same one is told each time.
func TestALineWithSeveralUnknownKeysIsRefusedInOneWay(t *testing.T) {
	for line, says := range map[string]string{
		`{"id":"x","note":1,"title":2,"area":3,"expr":"@daily","zone":"UTC"}`:                                                                 "area",
		`{"id":"x","expr":"@daily","zone":"UTC","policy":{"b":1,"c":1,"a":1},"cursor":"2026-01-01T00:00:00Z","up_at":"2026-01-01T00:00:00Z"}`: "policy.a",
	} {
		for range 20 {
			_, _, err := answerPlan([]byte(line))
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Fatalf("%s: %v", line, err)
			}
		}
	}
}
