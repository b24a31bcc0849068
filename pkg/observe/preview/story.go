package preview

import (
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/belfry-scheduler/belfry/pkg/observe"
)

// points of a chart: three hours by two minutes.
const points = 91

// The story: from point 48 to 62 the service behind the pool external-api does
// not answer.
const outageFrom, outageUpto = 48, 62

// figure is how a line runs: around a level, with noise of that share of it, and
// up to another level during the outage.
type figure struct {
	level, noise, outage float64
	whole                bool // whole numbers only
}

// values are the same for the same words.
func (f figure) values(words string) []float64 {
	seed := fnv.New64a()
	_, _ = seed.Write([]byte(words))
	random := rand.New(rand.NewPCG(seed.Sum64(), 7))
	all := make([]float64, points)
	for n := range all {
		v := f.level * (1 + f.noise*(random.Float64()*2-1))
		if n >= outageFrom && n <= outageUpto && f.outage != 0 {
			swell := math.Sin(math.Pi * float64(n-outageFrom+1) / float64(outageUpto-outageFrom+2))
			v += f.outage * swell * (0.85 + 0.3*random.Float64())
		}
		if f.whole {
			v = math.Round(v)
		}
		all[n] = max(v, 0)
	}
	return all
}

// told is what the story says of a line: by its metric and its label, or by the
// metric alone.
func told(s observe.Series, label string) figure {
	name := s.Name
	switch {
	case s.Metric != nil:
		name = s.Metric.Name
	case s.Expression != "":
		name = "rate"
	}
	if f, is := figures[name+"/"+label]; is {
		return f
	}
	return figures[name]
}

var figures = map[string]figure{
	"start_lag/p50": {level: 17, noise: .2}, "start_lag/p99": {level: 130, noise: .25, outage: 420}, "start_lag/p99.9": {level: 310, noise: .3, outage: 900},
	"start_lag/fast-io": {level: 105, noise: .2}, "start_lag/external-api": {level: 190, noise: .25, outage: 2600}, "start_lag/cpu-heavy": {level: 420, noise: .3},
	"start_lag/long-running": {level: 780, noise: .25},
	"start_lag/billing":      {level: 160, noise: .25, outage: 2100}, "start_lag/report": {level: 380, noise: .3}, "start_lag/none": {level: 110, noise: .2},
	"queue_wait/billing": {level: 120, noise: .3, outage: 2000}, "queue_wait/report": {level: 300, noise: .3}, "queue_wait/none": {level: 65, noise: .3},
	"run_duration/billing": {level: 820, noise: .2, outage: 8800}, "run_duration/report": {level: 3900, noise: .2}, "run_duration/none": {level: 260, noise: .2},
	"run_duration/webhook": {level: 780, noise: .2, outage: 8500}, "run_duration/handler": {level: 3300, noise: .2},
	"succeeded/billing": {level: 390, noise: .08, outage: -350, whole: true}, "succeeded/report": {level: 150, noise: .1, whole: true}, "succeeded/none": {level: 1250, noise: .06, whole: true},
	"failed/failed billing": {level: 1, noise: 1, whole: true}, "failed/failed report": {}, "failed/failed none": {level: 2, noise: .9, whole: true},
	"dead/dead billing": {outage: 26, whole: true}, "dead/dead report": {}, "dead/dead none": {},
	"failed/webhook": {level: 2, noise: .9, whole: true}, "failed/handler": {level: 1, noise: 1, whole: true},
	"failed/failed fast-io": {level: 2, noise: .9, whole: true}, "failed/failed external-api": {level: 1, noise: 1, whole: true}, "failed/failed cpu-heavy": {}, "failed/failed long-running": {},
	"dead/dead external-api": {outage: 26, whole: true}, "dead/dead fast-io": {}, "dead/dead cpu-heavy": {}, "dead/dead long-running": {},
	"retries/retried fast-io": {level: 4, noise: .8, whole: true}, "retries/retried external-api": {level: 5, noise: .8, outage: 215, whole: true},
	"retries/retried cpu-heavy": {level: 1, noise: 1, whole: true}, "retries/retried long-running": {},
	"rate/failed": {level: .2, noise: .6}, "rate/dead": {outage: 1.6}, "rate/retries": {level: .5, noise: .5, outage: 14},
	"scans_sent": {level: 16, whole: true}, "scans_completed": {level: 16, whole: true},
	"ticks": {level: 1, whole: true}, "scan_delay": {level: 260, noise: .5}, "due_jobs": {level: 1840, noise: .08, whole: true},
	"schedule_lag": {}, "overdue": {}, "late_jobs": {}, "late_starts": {}, "scans_failed": {}, "clock_skew": {}, "scans_redelivered": {}, "times_moved": {}, "jobs_purged": {},
	"queue_wait/fast-io": {level: 60, noise: .3}, "queue_wait/external-api": {level: 140, noise: .3, outage: 2500}, "queue_wait/cpu-heavy": {level: 350, noise: .3},
	"queue_wait/long-running":                    {level: 600, noise: .3},
	"ApproximateNumberOfMessagesVisible/fast-io": {level: 14, noise: .6, whole: true}, "ApproximateNumberOfMessagesVisible/external-api": {level: 22, noise: .5, outage: 640, whole: true},
	"ApproximateNumberOfMessagesVisible/cpu-heavy": {level: 31, noise: .4, whole: true}, "ApproximateNumberOfMessagesVisible/long-running": {level: 2, noise: 1, whole: true},
	"ApproximateAgeOfOldestMessage/external-api": {level: 2, noise: .8, outage: 46, whole: true}, "ApproximateAgeOfOldestMessage/cpu-heavy": {level: 3, noise: .8, whole: true},
	"ApproximateAgeOfOldestMessage": {level: 1, noise: 1, whole: true},
	"run_duration/fast-io":          {level: 240, noise: .2}, "run_duration/external-api": {level: 900, noise: .2, outage: 9100}, "run_duration/cpu-heavy": {level: 4100, noise: .2},
	"run_duration/long-running": {level: 6400, noise: .15},
	"succeeded/fast-io":         {level: 1180, noise: .06, whole: true}, "succeeded/external-api": {level: 430, noise: .08, outage: -390, whole: true},
	"succeeded/cpu-heavy": {level: 160, noise: .1, whole: true}, "succeeded/long-running": {level: 20, noise: .2, whole: true},
	"failed": {level: 3, noise: .9, whole: true}, "canceled": {level: .4, noise: 1, whole: true}, "dead": {outage: 26, whole: true},
	"retries/HANDLER_ERROR": {level: 6, noise: .7, outage: 55, whole: true},
	"retries/TIMED_OUT":     {level: 1, noise: 1, outage: 160, whole: true}, "retries/THROTTLED": {level: 3, noise: 1, whole: true},
	"dead/ATTEMPTS_USED_UP": {outage: 26, whole: true}, "missed": {}, "leases_lost": {}, "takeovers": {},
	"redriven": {}, "dead_letters_kept": {}, "archive_unread": {}, "WriteThrottleEvents": {}, "Errors": {}, "IteratorAge": {level: 900, noise: .5},
}

// split are the values of a dimension that the story knows for a metric.
func split(s observe.Series, pools []string) []string {
	switch s.Split {
	case observe.Pool:
		return pools
	case observe.Type:
		return []string{"billing", "report", "none"}
	case observe.Target:
		return []string{"webhook", "handler"}
	case observe.Reason:
	}
	switch s.Metric.Name {
	case observe.Retries.Name:
		return []string{"HANDLER_ERROR", "TIMED_OUT", "THROTTLED"}
	case observe.Dead.Name:
		return []string{"ATTEMPTS_USED_UP"}
	}
	return []string{"MISFIRE"}
}

// numbers are what the widgets show that have one figure.
var numbers = map[string]string{"Started in time": "99.98 %", "Succeeded": "99.7 %", "Start lag, p99": "142 ms", "Most overdue job": "0 ms", "Messages in dead-letter queues": "0"}
