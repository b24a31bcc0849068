package store

import (
	"strconv"
	"strings"
	"sync"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func encodeRevision(r *job.Revision) item {
	stored := key(r.Ref.String(), revisionKey(r.Number))
	stored["schema"] = number(job.Schema)
	stored["epoch"] = number(r.Epoch)
	stored["definition"] = document(r.Definition)
	stored["anchor"] = seconds(r.Anchor)
	stored["created_at"] = millis(r.CreatedAt)
	stored["created_by"] = text(r.CreatedBy)
	stored["tzdb"] = text(r.TZDB)
	if len(r.Calendars) > 0 {
		stored["calendars"] = document(r.Calendars)
	}
	if !r.CarryUntil.IsZero() {
		stored["carry_until"] = millis(r.CarryUntil)
	}
	return stored
}

// waitingKey is the sort key of a definition that waits for its moment. One item
// a job: the head says whether, and until when, it counts.
const waitingKey = "WAITING"

func encodeWaiting(r *job.Revision) item {
	stored := encodeRevision(r)
	stored[SortKey] = text(waitingKey)
	return stored
}

func decodeRevision(stored item) (*job.Revision, error) {
	r := &reader{item: stored}
	number, _ := strconv.Atoi(strings.TrimPrefix(r.text(SortKey), "REV#")) // the key's own form
	rev := &job.Revision{Ref: refOf(r.text(PartitionKey)), Number: number, Epoch: r.number("epoch"), Anchor: r.seconds("anchor"),
		CreatedAt: r.millis("created_at"), CreatedBy: r.text("created_by"), TZDB: r.text("tzdb"), CarryUntil: r.millis("carry_until")}
	r.document("definition", &rev.Definition)
	r.document("calendars", &rev.Calendars)
	return rev, r.err
}

// revisionCache keeps revisions in memory: they never change. It forgets
// everything when it is full, which is cheap and bounds it.
type revisionCache struct {
	mu    sync.Mutex
	most  int
	known map[string]*job.Revision
	// content holds each version of a calendar once, however many revisions pinned it.
	content map[string]job.PinnedCalendar
}

func newRevisionCache(most int) *revisionCache {
	return &revisionCache{most: most, known: map[string]*job.Revision{}, content: map[string]job.PinnedCalendar{}}
}

func (c *revisionCache) get(ref job.Ref, number int) *job.Revision {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known[ref.String()+"#"+strconv.Itoa(number)]
}

func (c *revisionCache) put(r *job.Revision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= c.most {
		clear(c.known)
		clear(c.content)
	}
	for i, pinned := range r.Calendars {
		name := r.Tenant + "/" + pinned.Name + "#" + strconv.Itoa(pinned.Version)
		if shared, there := c.content[name]; there {
			r.Calendars[i] = shared
			continue
		}
		c.content[name] = pinned
	}
	c.known[r.Ref.String()+"#"+strconv.Itoa(r.Number)] = r
}
