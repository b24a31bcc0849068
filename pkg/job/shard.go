package job

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
