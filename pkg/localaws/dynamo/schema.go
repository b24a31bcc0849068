package dynamo

import (
	"hash/fnv"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
)

// Documented bounds, in bytes.
const (
	maxHashKey  = 2048
	maxRangeKey = 1024
	maxItem     = 400 << 10
)

// keyAttribute is one half of a key. The zero value means there is none.
type keyAttribute struct {
	Name string
	Kind attr.Kind
}

// keySchema is the key of a table or an index.
type keySchema struct {
	Hash  keyAttribute
	Range keyAttribute
}

func (k keySchema) attributes() []keyAttribute {
	if k.Range.Name == "" {
		return []keyAttribute{k.Hash}
	}
	return []keyAttribute{k.Hash, k.Range}
}

func (k keySchema) has(name string) bool {
	return name != "" && (name == k.Hash.Name || name == k.Range.Name)
}

// row is where an item of this schema lies: 4 bytes of hash, so that a scan
// has no useful order and segments are ranges, then the ordered key.
func (k keySchema) row(item attr.Item) []byte {
	row := k.partition(item.Get(k.Hash.Name))
	if k.Range.Name != "" {
		row = attr.AppendOrdered(row, item.Get(k.Range.Name))
	}
	return row
}

// partition is what the rows of all items with this partition key begin with.
func (k keySchema) partition(hash attr.Value) []byte {
	row := make([]byte, 4, 4+64)
	row = attr.AppendOrdered(row, hash)
	digest := fnv.New32a()
	_, _ = digest.Write(row[4:])
	spread := mix(digest.Sum32())
	row[0], row[1], row[2], row[3] = byte(spread>>24), byte(spread>>16), byte(spread>>8), byte(spread)
	return row
}

// mix spreads close hashes over the whole range (the finaliser of murmur3).
func mix(h uint32) uint32 {
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}

// keyOf picks the key attributes out of an item.
func (k keySchema) keyOf(item attr.Item) attr.Item {
	key := attr.Item{}
	for _, part := range k.attributes() {
		key = key.With(part.Name, item.Get(part.Name))
	}
	return key
}

// checkItem makes sure that an item to be put has a key.
func (k keySchema) checkItem(item attr.Item) error {
	for _, part := range k.attributes() {
		value := item.Get(part.Name)
		if value.Kind == attr.Absent {
			return invalidParameter("Missing the key %s in the item", part.Name)
		}
		if value.Kind != part.Kind {
			return invalidParameter("Type mismatch for key %s expected: %s actual: %s", part.Name, part.Kind, value.Kind)
		}
	}
	return k.checkValues(item)
}

// checkKey makes sure that a key given by itself is exactly one.
func (k keySchema) checkKey(key attr.Item) error {
	parts := k.attributes()
	if len(key) != len(parts) {
		return validation("The provided key element does not match the schema")
	}
	for _, part := range parts {
		if key.Get(part.Name).Kind != part.Kind {
			return validation("The provided key element does not match the schema")
		}
	}
	return k.checkValues(key)
}

func (k keySchema) checkValues(item attr.Item) error {
	for _, part := range k.attributes() {
		if value := item.Get(part.Name); value.Text == "" {
			return emptyKey(part.Name, value.Kind)
		}
	}
	if len(item.Get(k.Hash.Name).Text) > maxHashKey {
		return invalidParameter("Size of hashkey has exceeded the maximum size limit of2048 bytes")
	}
	if k.Range.Name != "" && len(item.Get(k.Range.Name).Text) > maxRangeKey {
		return invalidParameter("Aggregated size of all range keys has exceeded the size limit of 1024 bytes")
	}
	return nil
}

func emptyKey(name string, kind attr.Kind) error {
	return validation("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty %s value. Key: %s",
		emptyNoun(kind), name)
}

func emptyNoun(kind attr.Kind) string {
	if kind == attr.B {
		return "binary"
	}
	return "string"
}
