package expr

import (
	"slices"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
)

// Projection is a bound list of paths. A nil *Projection keeps everything.
type Projection struct{ paths []path }

// Names lists the top-level attributes that the projection asks for.
func (p *Projection) Names() []string {
	if p == nil {
		return nil
	}
	names := make([]string, len(p.paths))
	for i, one := range p.paths {
		names[i] = one[0].name
	}
	return names
}

// Of returns the parts of item that the projection asks for. Parts of maps
// and lists keep their holders; a list is closed up.
func (p *Projection) Of(item attr.Item) attr.Item {
	if p == nil {
		return item
	}
	return projectItem(item, p.paths)
}

// Projection of what the update has written, for UPDATED_OLD and UPDATED_NEW.
func (u *Update) Projection() *Projection {
	projection := &Projection{}
	if u != nil {
		for _, a := range u.actions {
			projection.paths = append(projection.paths, a.path)
		}
	}
	return projection
}

func projectItem(item attr.Item, paths []path) attr.Item {
	picked := attr.Item{}
	for _, attribute := range item {
		rest, whole := restAfter(paths, element{name: attribute.Name})
		if whole {
			picked = append(picked, attribute)
			continue
		}
		if len(rest) == 0 {
			continue
		}
		if part := projectValue(attribute.Value, rest); part.Kind != attr.Absent {
			picked = append(picked, attr.Attribute{Name: attribute.Name, Value: part})
		}
	}
	return picked
}

// restAfter returns what is left of the paths that begin with first; whole is
// true when one of them ends there.
func restAfter(paths []path, first element) (rest []path, whole bool) {
	for _, p := range paths {
		if p[0] != first {
			continue
		}
		if len(p) == 1 {
			return nil, true
		}
		rest = append(rest, p[1:])
	}
	return rest, false
}

func projectValue(value attr.Value, paths []path) attr.Value {
	part := attr.Value{Kind: value.Kind, Map: projectItem(value.Map, paths), List: projectList(value.List, paths)}
	if value.Kind.IsSet() || len(part.Map) == 0 && len(part.List) == 0 {
		return attr.Value{}
	}
	return part
}

func projectList(list []attr.Value, paths []path) []attr.Value {
	var indexes []int
	for _, p := range paths {
		if p[0].isIndex() && p[0].index < len(list) {
			indexes = append(indexes, p[0].index)
		}
	}
	slices.Sort(indexes)
	var picked []attr.Value
	for _, i := range slices.Compact(indexes) {
		rest, whole := restAfter(paths, element{index: i})
		if whole {
			picked = append(picked, list[i])
		} else if part := projectValue(list[i], rest); part.Kind != attr.Absent {
			picked = append(picked, part)
		}
	}
	return picked
}
