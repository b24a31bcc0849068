package record

import (
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

// mostEntries bounds how many executions one page of the recent list names, so
// that no batch makes an item that the table refuses.
const mostEntries = 500

// kept is how many of a timeline's first entries stay with their execution
// when later ones fall out.
const kept = 2

// Note is one item to be written. Exactly one of its pointers is set.
type Note struct {
	First     int // index of the first change that it tells of
	Recent    *store.RecentPage
	Attention *Attention
	History   *History
}

// Attention is an execution that needs a person since At.
type Attention struct {
	Execution *job.Execution
	At        time.Time
}

// History is an entry that fell out of an execution's timeline.
type History struct {
	Execution *job.Execution
	Place     int // in the whole timeline, from 0
	Entry     job.Entry
}

// Gather says what a batch of changes leaves to write, in the order of the
// changes. It is pure: the same changes give the same notes.
func Gather(changes []Change) []Note {
	g := gathering{open: make(map[page]int)}
	for i, c := range changes {
		if c.New == nil {
			continue // removed, mostly because its retention is over; or no execution
		}
		if c.Inserted {
			g.recent(i, c)
		}
		g.fellOut(i, c)
		g.attention(i, c)
	}
	return g.notes
}

// page says which page of which list an execution belongs to.
type page struct {
	tenant string
	minute time.Time
}

type gathering struct {
	notes []Note
	open  map[page]int // index of the note that a page's entries go into
}

// recent adds a new execution, or the new record of a range, to the page of its
// tenant and of the minute it is scheduled in. Children are found by their parent:
// ten thousand of them would hide all else.
func (g *gathering) recent(i int, c Change) {
	if c.New.Kind == job.KindChild {
		return
	}
	of := page{tenant: c.New.Tenant, minute: c.New.ScheduledAt.UTC().Truncate(time.Minute)}
	at, begun := g.open[of]
	if !begun || len(g.notes[at].Recent.Entries) == mostEntries {
		at = len(g.notes)
		g.open[of] = at
		g.notes = append(g.notes, Note{First: i, Recent: &store.RecentPage{Tenant: of.tenant, Minute: of.minute, Mark: c.ID}})
	}
	p := g.notes[at].Recent
	p.Entries = append(p.Entries, job.ExecutionRef{Ref: c.New.Ref, Key: c.New.Key})
}

// fellOut keeps the entries that the old image still carried and the new one
// only counts. A write drops them from behind the first two.
func (g *gathering) fellOut(i int, c Change) {
	if c.Old == nil {
		return
	}
	dropped := min(c.New.Dropped-c.Old.Dropped, len(c.Old.Timeline)-kept)
	for n := range max(dropped, 0) {
		g.notes = append(g.notes, Note{First: i, History: &History{Execution: c.New, Place: kept + c.Old.Dropped + n, Entry: c.Old.Timeline[kept+n]}})
	}
}

// attention notes the transition into a state that needs a person, not the
// state itself: what changes beside it tells nothing new.
func (g *gathering) attention(i int, c Change) {
	if c.Old != nil && c.Old.Status == c.New.Status {
		return
	}
	if lifecycle.DeadLetter(c.New.Status) || c.New.Status == job.NeedsReview {
		g.notes = append(g.notes, Note{First: i, Attention: &Attention{Execution: c.New, At: since(c.New)}})
	}
}

// since is when the execution came into its state, by the image alone, so that
// the same record always names the same entry.
func since(e *job.Execution) time.Time {
	if !e.FinishedAt.IsZero() || len(e.Timeline) == 0 {
		return e.FinishedAt
	}
	return e.Timeline[len(e.Timeline)-1].At
}
