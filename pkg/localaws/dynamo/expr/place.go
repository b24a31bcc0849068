package expr

import (
	"slices"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
)

// place puts value at p within item itself.
func place(item *attr.Item, p path, value attr.Value) error {
	if len(p) > 1 {
		holder, err := setWithin(item.Get(p[0].name), p[1:], value)
		if err != nil {
			return err
		}
		value = holder
	}
	item.Set(p[0].name, value)
	return nil
}

// displace takes what is at p out of item itself.
func displace(item *attr.Item, p path) error {
	if len(p) == 1 {
		item.Remove(p[0].name)
		return nil
	}
	holder, err := removeWithin(item.Get(p[0].name), p[1:])
	if err == nil {
		item.Set(p[0].name, holder)
	}
	return err
}

// setIn returns item with value at p. The place that holds it must exist; an
// index past the end of a list appends.
func setIn(item attr.Item, p path, value attr.Value) (attr.Item, error) {
	if len(p) == 1 {
		return item.With(p[0].name, value), nil
	}
	holder, err := setWithin(item.Get(p[0].name), p[1:], value)
	if err != nil {
		return nil, err
	}
	return item.With(p[0].name, holder), nil
}

func setWithin(holder attr.Value, p path, value attr.Value) (attr.Value, error) {
	e := p[0]
	switch {
	case !e.isIndex() && holder.Kind == attr.M:
		fields, err := setIn(holder.Map, p, value)
		return attr.Value{Kind: attr.M, Map: fields}, err
	case !e.isIndex() || holder.Kind != attr.L:
		return attr.Value{}, &attr.Invalid{Message: wrongPath}
	case e.index >= len(holder.List) && len(p) > 1:
		return attr.Value{}, &attr.Invalid{Message: wrongPath}
	case e.index >= len(holder.List):
		return attr.Value{Kind: attr.L, List: append(slices.Clip(holder.List), value)}, nil
	}
	if len(p) > 1 {
		changed, err := setWithin(holder.List[e.index], p[1:], value)
		if err != nil {
			return attr.Value{}, err
		}
		value = changed
	}
	list := slices.Clone(holder.List)
	list[e.index] = value
	return attr.Value{Kind: attr.L, List: list}, nil
}

// removeIn returns item without what is at p. The place that holds it must
// exist; what is not there need not be removed.
func removeIn(item attr.Item, p path) (attr.Item, error) {
	if len(p) == 1 {
		return item.Without(p[0].name), nil
	}
	holder, err := removeWithin(item.Get(p[0].name), p[1:])
	if err != nil {
		return nil, err
	}
	return item.With(p[0].name, holder), nil
}

func removeWithin(holder attr.Value, p path) (attr.Value, error) {
	e := p[0]
	switch {
	case !e.isIndex() && holder.Kind == attr.M:
		fields, err := removeIn(holder.Map, p)
		return attr.Value{Kind: attr.M, Map: fields}, err
	case !e.isIndex() || holder.Kind != attr.L:
		return attr.Value{}, &attr.Invalid{Message: wrongPath}
	case e.index >= len(holder.List) && len(p) > 1:
		return attr.Value{}, &attr.Invalid{Message: wrongPath}
	case e.index >= len(holder.List):
		return holder, nil
	}
	list := slices.Clone(holder.List)
	if len(p) == 1 {
		return attr.Value{Kind: attr.L, List: slices.Delete(list, e.index, e.index+1)}, nil
	}
	changed, err := removeWithin(holder.List[e.index], p[1:])
	if err != nil {
		return attr.Value{}, err
	}
	list[e.index] = changed
	return attr.Value{Kind: attr.L, List: list}, nil
}
