package job

import "time"

// Layout is one generation of shards. Scans read all live layouts and writes
// use the newest, so the number of shards can be changed without stopping.
type Layout struct {
	Generation int `json:"generation"`
	Shards     int `json:"shards"`
}

// Shard is one shard of a layout.
type Shard struct {
	Generation int `json:"generation"`
	Number     int `json:"number"`
}

// ShardRange is the shards [From, To) of a layout: the work of one scan message.
type ShardRange struct {
	Generation int `json:"generation"`
	From       int `json:"from"`
	To         int `json:"to"`
}

// Backlog is what a shard holds that is overdue: jobs whose time has passed
// without an execution.
type Backlog struct {
	Shard
	Jobs   int       // at most a hundred are counted
	More   bool      // there may be more than were counted
	Oldest Ref       // the most overdue one
	Since  time.Time // its time
}
