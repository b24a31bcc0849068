package sqs

import "container/heap"

// ordering is a heap of messages that knows where each of them sits, so that
// any message can be moved or taken out in logarithmic time.
type ordering struct {
	items []*message
	less  func(a, b *message) bool
	slot  func(*message) *int
}

// byVisibility orders by the instant at which a message becomes, or became,
// visible. A message that comes back goes behind those that waited longer, so
// one that always fails does not starve the others.
func byVisibility() *ordering {
	return &ordering{
		less: func(a, b *message) bool {
			if a.visibleAt != b.visibleAt {
				return a.visibleAt < b.visibleAt
			}
			return a.seq < b.seq
		},
		slot: func(m *message) *int { return &m.slot },
	}
}

func byAge() *ordering {
	return &ordering{
		less: func(a, b *message) bool {
			if a.sent != b.sent {
				return a.sent < b.sent
			}
			return a.seq < b.seq
		},
		slot: func(m *message) *int { return &m.ageSlot },
	}
}

func (o *ordering) first() *message {
	if len(o.items) == 0 {
		return nil
	}
	return o.items[0]
}

func (o *ordering) add(m *message)    { heap.Push(o, m) }
func (o *ordering) remove(m *message) { heap.Remove(o, *o.slot(m)) }

// Len, Less, Swap, Push and Pop serve container/heap.
func (o *ordering) Len() int           { return len(o.items) }
func (o *ordering) Less(i, j int) bool { return o.less(o.items[i], o.items[j]) }

func (o *ordering) Swap(i, j int) {
	o.items[i], o.items[j] = o.items[j], o.items[i]
	*o.slot(o.items[i]) = i
	*o.slot(o.items[j]) = j
}

func (o *ordering) Push(x any) {
	m := x.(*message)
	*o.slot(m) = len(o.items)
	o.items = append(o.items, m)
}

func (o *ordering) Pop() any {
	last := len(o.items) - 1
	m := o.items[last]
	o.items[last] = nil
	o.items = o.items[:last]
	return m
}
