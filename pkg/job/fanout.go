package job

import "time"

// FanOut is an execution that handed its work to children.
type FanOut struct {
	Ref
	Parent   Key
	Revision int
	Epoch    int64
	ReplayOf string // of the parent
	Total    int    // children
	Digest   string // of what the children are to do: no attempt may ask for others

	Handler   string   // that each child runs
	Reduce    string   // that runs once all have ended; empty = none does
	Pool      string   // of the children and of the reduce execution
	Type      string   // the job's
	Timeout   Duration // of a child's attempt; zero = the job's
	Retry     *Retry   // of a child; nil = the job's
	MaxFailed int      // children that may fail before the rest is canceled

	Made      []int   // pages whose children have been made and sent
	OpenPages int     // pages with a child that has not ended
	Failed    int     // children that did not succeed, as told so far
	Canceled  *Cancel // nil = nobody has
	CreatedAt time.Time
}

// Pages is on how many pages the children lie.
func (f *FanOut) Pages() int { return (f.Total + PageSize - 1) / PageSize }

// OnPage is how many children lie on a page.
func (f *FanOut) OnPage(page int) int { return min(PageSize, f.Total-page*PageSize) }

// Complete reports whether every child has been made.
func (f *FanOut) Complete() bool { return len(f.Made) == f.Pages() }

// TooManyFailed reports whether more children failed than may.
func (f *FanOut) TooManyFailed() bool { return f.Failed > f.MaxFailed }
