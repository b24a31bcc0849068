package expr

import (
	"slices"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
)

// Scope is what the placeholders of one request stand for, and which of them
// its expressions have used.
type Scope struct {
	names  []nameBinding
	values []valueBinding
}

type nameBinding struct {
	placeholder, name string
	used              bool
}

type valueBinding struct {
	placeholder string
	value       attr.Value
	used        bool
}

// Name is one entry of ExpressionAttributeNames.
type Name struct{ Placeholder, Name string }

// NewScope checks the shape of the placeholders. Either argument may be empty.
func NewScope(names []Name, values attr.Item) (*Scope, error) {
	scope := &Scope{names: make([]nameBinding, len(names)), values: make([]valueBinding, len(values))}
	for i, n := range names {
		if !isPlaceholder(n.Placeholder, '#') {
			return nil, &attr.Invalid{Message: "ExpressionAttributeNames contains invalid key: Syntax error; key: \"" + n.Placeholder + "\""}
		}
		if n.Name == "" {
			return nil, &attr.Invalid{Message: "ExpressionAttributeNames contains invalid value: Empty attribute name for key " + n.Placeholder}
		}
		scope.names[i] = nameBinding{placeholder: n.Placeholder, name: n.Name}
	}
	for i, v := range values {
		if !isPlaceholder(v.Name, ':') {
			return nil, &attr.Invalid{Message: "ExpressionAttributeValues contains invalid key: Syntax error; key: \"" + v.Name + "\""}
		}
		scope.values[i] = valueBinding{placeholder: v.Name, value: v.Value}
	}
	return scope, nil
}

func isPlaceholder(text string, mark byte) bool {
	return len(text) > 1 && text[0] == mark && spanWord(text, 1) == len(text)
}

// Unused refuses placeholders that no expression has used.
func (s *Scope) Unused() error {
	var names, values []string
	for _, n := range s.names {
		if !n.used {
			names = append(names, n.placeholder)
		}
	}
	for _, v := range s.values {
		if !v.used {
			values = append(values, v.placeholder)
		}
	}
	if names != nil {
		return unused("ExpressionAttributeNames", names)
	}
	if values != nil {
		return unused("ExpressionAttributeValues", values)
	}
	return nil
}

func unused(member string, keys []string) error {
	slices.Sort(keys)
	return &attr.Invalid{Message: "Value provided in " + member + " unused in expressions: keys: {" + strings.Join(keys, ", ") + "}"}
}

// name resolves a name of a path, which may be a placeholder.
func (s *Scope) name(e element) string {
	if !e.placeholder {
		return e.name
	}
	for i := range s.names {
		if s.names[i].placeholder == e.name {
			return s.names[i].name
		}
	}
	return ""
}

func (s *Scope) value(placeholder string) attr.Value {
	for i := range s.values {
		if s.values[i].placeholder == placeholder {
			return s.values[i].value
		}
	}
	return attr.Value{}
}

// usePath marks the placeholders of a path and refuses unknown ones.
func (s *Scope) usePath(section string, p path) error {
	for _, e := range p {
		if !e.placeholder {
			continue
		}
		i := slices.IndexFunc(s.names, func(n nameBinding) bool { return n.placeholder == e.name })
		if i < 0 {
			return invalidf(section, "An expression attribute name used in the document path is not defined; attribute name: %s", e.name)
		}
		s.names[i].used = true
	}
	return nil
}

func (s *Scope) useValue(section, placeholder string) error {
	for i := range s.values {
		if s.values[i].placeholder == placeholder {
			s.values[i].used = true
			return nil
		}
	}
	return invalidf(section, "An expression attribute value used in expression is not defined; attribute value: %s", placeholder)
}

func (s *Scope) useOperand(section string, o operand) error {
	switch o.kind {
	case operandPath:
		return s.usePath(section, o.path)
	case operandValue:
		return s.useValue(section, o.value)
	case operandCall:
	}
	for _, arg := range o.args {
		if err := s.useOperand(section, arg); err != nil {
			return err
		}
	}
	return nil
}

// resolve returns p with real names; p itself when it has no placeholders.
func (s *Scope) resolve(p path) path {
	if !slices.ContainsFunc(p, func(e element) bool { return e.placeholder }) {
		return p
	}
	resolved := slices.Clone(p)
	for i := range resolved {
		resolved[i].name, resolved[i].placeholder = s.name(resolved[i]), false
	}
	return resolved
}

// lookup returns the value at p in item, Absent when any step is missing.
func (s *Scope) lookup(item attr.Item, p path) attr.Value {
	value := item.Get(s.name(p[0]))
	for _, e := range p[1:] {
		switch {
		case e.isIndex() && value.Kind == attr.L && e.index < len(value.List):
			value = value.List[e.index]
		case !e.isIndex() && value.Kind == attr.M:
			value = value.Map.Get(s.name(e))
		default:
			return attr.Value{}
		}
	}
	return value
}
