package job

import (
	"fmt"
	"strconv"
	"strings"
)

// Bounds of a fan-out.
const (
	// PageSize is how many children lie on one page, a partition of its own.
	PageSize = 250
	// MaxChildren bounds the children of one execution.
	MaxChildren = 100_000
)

// reduceWord stands for the reduce execution in ids.
const reduceWord = "reduce"

// ChildKey is the key of the n-th child, from 0, of the execution with key parent.
func ChildKey(parent Key, n int) Key {
	return Key{ScheduledAt: parent.ScheduledAt, Serial: parent.Serial, Kind: KindChild, Of: parent.Kind, Page: n / PageSize, Index: n % PageSize}
}

// ReduceKey is the key of the execution that runs once all children of the one with
// key parent have ended.
func ReduceKey(parent Key) Key {
	return Key{ScheduledAt: parent.ScheduledAt, Serial: parent.Serial, Kind: KindReduce, Of: parent.Kind}
}

// FansOut reports whether executions of this kind may have children.
func (k Key) FansOut() bool {
	return k.Kind == KindScheduled || k.Kind == KindManual || k.Kind == KindReplay
}

// Parent is the key of the execution that fanned out, of a child or a reduce
// execution; any other key is its own.
func (k Key) Parent() Key {
	if k.Of == "" {
		return k
	}
	return Key{ScheduledAt: k.ScheduledAt, Serial: k.Serial, Kind: k.Of}
}

// Number is which child it is, from 0.
func (k Key) Number() int { return k.Page*PageSize + k.Index }

// Partition is where executions of the key lie: children on pages of their own, all
// others with their job.
func (k Key) Partition(ref Ref) string {
	if k.Kind != KindChild {
		return ref.String()
	}
	return PagePartition(ref, k.Parent(), k.Page)
}

// PagePartition is where one page of children lies.
func PagePartition(ref Ref, parent Key, page int) string {
	return fmt.Sprintf("%s#%s#%04d", ref, parent, page)
}

// place is a child's page and place in a form; empty for a reduce execution.
func (k Key) place(form string) string {
	if k.Kind != KindChild {
		return ""
	}
	return fmt.Sprintf(form, k.Page, k.Index)
}

// member is what an id says of it beside its parent.
func (k Key) member() string {
	if k.Kind == KindReduce {
		return reduceWord
	}
	return k.place("c-%d-%d")
}

func (k Key) withMember(text string) (Key, bool) {
	if !k.FansOut() {
		return Key{}, false
	}
	if text == reduceWord {
		return ReduceKey(k), true
	}
	rest, isChild := strings.CutPrefix(text, "c-")
	page, index, both := strings.Cut(rest, "-")
	made, ok := childAt(k, page, index)
	return made, ok && isChild && both && made.member() == text
}

func childAt(parent Key, page, index string) (Key, bool) {
	p, err := strconv.ParseUint(page, 10, 16)
	i, err2 := strconv.ParseUint(index, 10, 16)
	if err != nil || err2 != nil || i >= PageSize || p >= MaxChildren/PageSize {
		return Key{}, false
	}
	return ChildKey(parent, int(p)*PageSize+int(i)), true
}

// parseMember reads the parts of a child's or a reduce execution's key.
func parseMember(parts []string) (Key, bool) {
	n := len(parts)
	switch {
	case n >= 4 && Kind(parts[n-2]) == KindChild:
		parent, err := ParseKey(strings.Join(parts[:n-2], "#"))
		page, index, _ := strings.Cut(parts[n-1], "-")
		if err != nil || !parent.FansOut() {
			return Key{}, false
		}
		return childAt(parent, page, index)
	case n >= 3 && Kind(parts[n-1]) == KindReduce:
		parent, err := ParseKey(strings.Join(parts[:n-1], "#"))
		return ReduceKey(parent), err == nil && parent.FansOut()
	}
	return Key{}, false
}
