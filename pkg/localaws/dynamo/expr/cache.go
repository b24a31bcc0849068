package expr

import "sync"

// maxCached bounds each of the cache's tables; a full one is emptied, because
// a program that makes its expressions at random gains nothing from a cache.
const maxCached = 4096

// Cache remembers parsed expressions by their text and binds them to scopes.
// The zero value is ready; it is safe for concurrent use.
type Cache struct {
	conditions  table[*node]
	updates     table[[]action]
	projections table[[]path]
}

type table[T any] struct {
	mu      sync.RWMutex
	entries map[string]T
}

func (t *table[T]) get(text string, parse func() (T, error)) (T, error) {
	t.mu.RLock()
	parsed, found := t.entries[text]
	t.mu.RUnlock()
	if found {
		return parsed, nil
	}
	parsed, err := parse()
	if err != nil {
		return parsed, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.entries == nil || len(t.entries) >= maxCached {
		t.entries = make(map[string]T)
	}
	t.entries[text] = parsed
	return parsed, nil
}

// Condition binds a condition; section is the parameter it came in
// ("ConditionExpression", "FilterExpression"). A nil text is no condition.
func (c *Cache) Condition(section string, text *string, scope *Scope) (*Condition, error) {
	if text == nil {
		return nil, nil
	}
	tree, err := c.tree(section, *text)
	if err != nil {
		return nil, err
	}
	if err := scope.check(section, tree); err != nil {
		return nil, err
	}
	return &Condition{tree, scope}, nil
}

// KeyCondition binds a KeyConditionExpression.
func (c *Cache) KeyCondition(text string, scope *Scope) ([]KeyTerm, error) {
	tree, err := c.tree(keySection, text)
	if err != nil {
		return nil, err
	}
	return scope.keyTerms(tree)
}

func (c *Cache) tree(section, text string) (*node, error) {
	return c.conditions.get(text, func() (*node, error) { return parseCondition(section, text) })
}

// Update binds an UpdateExpression. A nil text is no update.
func (c *Cache) Update(text *string, scope *Scope) (*Update, error) {
	if text == nil {
		return nil, nil
	}
	actions, err := c.updates.get(*text, func() ([]action, error) { return parseUpdate(*text) })
	if err != nil {
		return nil, err
	}
	return scope.bindUpdate(actions)
}

// Projection binds a ProjectionExpression. A nil text keeps everything.
func (c *Cache) Projection(text *string, scope *Scope) (*Projection, error) {
	if text == nil {
		return nil, nil
	}
	paths, err := c.projections.get(*text, func() ([]path, error) { return parseProjection(*text) })
	if err != nil {
		return nil, err
	}
	bound := make([]path, len(paths))
	for i, p := range paths {
		if err := scope.usePath("ProjectionExpression", p); err != nil {
			return nil, err
		}
		bound[i] = scope.resolve(p)
	}
	if err := checkDisjoint("ProjectionExpression", bound); err != nil {
		return nil, err
	}
	return &Projection{bound}, nil
}
