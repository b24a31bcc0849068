package client

import (
	"context"
	"net/http"
)

// Sweeps tells how far the walks over all jobs have come.
type Sweeps struct {
	TZDB           TZDBSweep  `json:"tzdb" doc:"Next times follow the newest time zone database that a tick has run with"`
	Purge          PurgeSweep `json:"purge" doc:"Once a day the definitions of deleted jobs go, when nothing of their history is left"`
	RestorePending bool       `json:"restore_pending" doc:"The tables come from a backup and are not repaired yet: nothing becomes due"`
}

// TZDBSweep tells how far the jobs follow the noted time zone database. The counts
// of jobs are of the current or last walk, the others of all with this version.
type TZDBSweep struct {
	State     string `json:"state" enum:"none,walking,waiting,settled" doc:"Settled: every job goes by version. Waiting: the jobs will be looked at once more. None: no tick has run"`
	Version   Text   `json:"version" nullable:"true" doc:"The newest that a tick has run with"`
	Service   string `json:"service" doc:"The one of the service that answers"`
	NotedAt   Time   `json:"noted_at" nullable:"true" format:"date-time" doc:"First tick with version"`
	OlderAt   Time   `json:"older_at" nullable:"true" format:"date-time" doc:"Last tick since with an older one: a build that should be gone"`
	Walks     int    `json:"walks" doc:"Walks over all jobs"`
	Jobs      int    `json:"jobs" doc:"Jobs looked at"`
	Left      int    `json:"left" doc:"Jobs among them that could not be judged then: the next walk does"`
	Moved     int    `json:"moved" doc:"Jobs whose next time moved"`
	Withdrawn int    `json:"withdrawn" doc:"Executions made ahead whose time is gone"`
	BegunAt   Time   `json:"begun_at" nullable:"true" format:"date-time"`
	DoneAt    Time   `json:"done_at" nullable:"true" format:"date-time"`
}

// PurgeSweep tells of the daily purge: of the current or last walk, and in all.
type PurgeSweep struct {
	State   string `json:"state" enum:"none,walking,done"`
	Jobs    int    `json:"jobs" doc:"Jobs looked at"`
	Purged  int    `json:"purged" doc:"Jobs among them that were purged"`
	InAll   int    `json:"purged_in_all" doc:"Jobs purged by all walks"`
	BegunAt Time   `json:"begun_at" nullable:"true" format:"date-time"`
	DoneAt  Time   `json:"done_at" nullable:"true" format:"date-time"`
}

// Sweeps asks how far the walks over all jobs have come.
func (c *Client) Sweeps(ctx context.Context) (Sweeps, error) {
	var out Sweeps
	return out, c.do(ctx, call{method: http.MethodGet, path: []string{"sweeps"}}, &out)
}
