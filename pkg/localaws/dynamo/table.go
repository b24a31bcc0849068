package dynamo

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
)

// table is a table's definition, as the catalog stores it.
type table struct {
	Name       string
	ID         string
	Created    time.Time
	Key        keySchema
	Attributes []keyAttribute
	Indexes    []*index
	Stream     streamDefinition
	TTL        string // the attribute that holds the expiry; empty when off
	Protected  bool   // deletion protection
	Echo       echoed

	arn                         string
	itemSpace, expirySpace      string
	streamSpace, lagSpace, meta string
}

// index is a global secondary index.
type index struct {
	Name       string
	Key        keySchema
	Projection string   // ALL, KEYS_ONLY or INCLUDE
	Include    []string // further attributes, for INCLUDE
	Echo       echoed

	space  string
	covers []string // names that are projected; nil for ALL
}

// streamDefinition says whether the table has a stream, and of what.
type streamDefinition struct {
	View  string // NEW_AND_OLD_IMAGES and so on; empty when there is no stream
	Label string
}

// echoed are parameters that have no meaning here and are shown again by
// DescribeTable.
type echoed struct {
	BillingMode           string          `json:",omitempty"`
	ProvisionedThroughput *throughput     `json:",omitempty"`
	OnDemandThroughput    json.RawMessage `json:",omitempty"`
	WarmThroughput        *warmThroughput `json:",omitempty"`
	SSESpecification      *encryption     `json:",omitempty"`
	TableClass            string          `json:",omitempty"`
	Tags                  json.RawMessage `json:",omitempty"`
}

func decodeTable(stored []byte, region, account string) (*table, error) {
	t := &table{}
	if err := json.Unmarshal(stored, t); err != nil {
		return nil, err
	}
	t.arn = "arn:aws:dynamodb:" + region + ":" + account + ":table/" + t.Name
	t.itemSpace = "item/" + t.ID
	t.expirySpace = "expiry/" + t.ID
	t.streamSpace = "stream/" + t.ID
	t.lagSpace = "lag/" + t.ID
	t.meta = "meta/" + t.ID
	for _, x := range t.Indexes {
		x.space = "index/" + t.ID + "/" + x.Name
		if x.Projection != "ALL" {
			x.covers = slices.Clone(x.Include)
			for _, part := range slices.Concat(t.Key.attributes(), x.Key.attributes()) {
				x.covers = append(x.covers, part.Name)
			}
		}
	}
	return t, nil
}

func (t *table) spaces() []string {
	spaces := []string{t.itemSpace, t.expirySpace, t.streamSpace, t.lagSpace, t.meta}
	for _, x := range t.Indexes {
		spaces = append(spaces, x.space)
	}
	return spaces
}

func (t *table) index(name string) *index {
	for _, x := range t.Indexes {
		if x.Name == name {
			return x
		}
	}
	return nil
}

func (t *table) streamARN() string { return t.arn + "/stream/" + t.Stream.Label }

// holds says whether item belongs in the index: both key attributes are there.
func (x *index) holds(item attr.Item) bool {
	for _, part := range x.Key.attributes() {
		if item.Get(part.Name).Kind == attr.Absent {
			return false
		}
	}
	return true
}

// project is what the index keeps of item; nil when it keeps nothing.
func (x *index) project(item attr.Item) attr.Item {
	if item == nil || !x.holds(item) {
		return nil
	}
	if x.covers == nil {
		return item
	}
	return item.Pick(x.covers)
}

// row is where the index keeps an item: index key, then the item's own row.
func (x *index) row(item attr.Item, itemRow []byte) []byte {
	return append(x.Key.row(item), itemRow...)
}

// check refuses items whose index key attributes are there but unfit.
func (x *index) check(item attr.Item) error {
	for _, part := range x.Key.attributes() {
		value := item.Get(part.Name)
		switch {
		case value.Kind == attr.Absent:
			continue
		case value.Kind != part.Kind:
			return invalidParameter("Type mismatch for Index Key %s Expected: %s Actual: %s IndexName: %s", part.Name, part.Kind, value.Kind, x.Name)
		case value.Text == "":
			return validation("One or more parameter values are not valid. A value specified for a secondary index key is not supported. "+
				"The AttributeValue for a key attribute cannot contain an empty %s value. IndexName: %s, IndexKey: %s", emptyNoun(value.Kind), x.Name, part.Name)
		case len(value.Text) > maxHashKey || part == x.Key.Range && len(value.Text) > maxRangeKey:
			return invalidParameter("Size of index key %s has exceeded the maximum size limit. IndexName: %s", part.Name, x.Name)
		}
	}
	return nil
}
