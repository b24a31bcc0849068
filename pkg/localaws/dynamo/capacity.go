package dynamo

import (
	"strconv"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/jsonread"
)

// Consumption is what one operation consumed on one table.
type Consumption struct {
	Operation string
	Table     string
	Write     bool               // write units; read units otherwise
	Units     float64            // table and indexes together
	OnTable   float64            // the table's part
	OnIndexes map[string]float64 // each index's part; nil when none took part
	Refused   bool               // a condition failed, or the transaction was cancelled
}

// capacityMode is ReturnConsumedCapacity.
type capacityMode uint8

const (
	capacityNone capacityMode = iota
	capacityTotal
	capacityIndexes
)

func readCapacityMode(r *jsonread.Reader) (capacityMode, error) {
	mode, err := choice(r, "returnConsumedCapacity", "INDEXES", "TOTAL", "NONE")
	switch mode {
	case "TOTAL":
		return capacityTotal, err
	case "INDEXES":
		return capacityIndexes, err
	default:
		return capacityNone, err
	}
}

// Units by size: a started KB for writes, a started 4 KB for reads; nothing
// counts as one.
func writeUnits(size int) float64 { return float64(max(1, (size+1023)/1024)) }

func readUnits(size int, consistent bool) float64 {
	units := float64(max(1, (size+4095)/4096))
	if consistent {
		return units
	}
	return units / 2
}

// itemWriteUnits is the larger of the old and the new item; either may be nil.
func itemWriteUnits(old, changed attr.Item) float64 {
	return writeUnits(max(old.Size(), changed.Size()))
}

// indexWriteUnits: nothing when the projection stays the same, one write when
// an entry comes, goes or changes in place, two when it moves.
func indexWriteUnits(old, changed attr.Item, moved bool) float64 {
	switch {
	case old == nil && changed == nil:
		return 0
	case old == nil || changed == nil:
		return itemWriteUnits(old, changed)
	case moved:
		return writeUnits(old.Size()) + writeUnits(changed.Size())
	case old.Equal(changed):
		return 0
	default:
		return itemWriteUnits(old, changed)
	}
}

// bill collects what a request consumes, table by table.
type bill struct {
	operation string
	write     bool
	explicit  bool // transactions name the kind of their units
	tables    []*Consumption
}

func (b *bill) entry(table string) *Consumption {
	for _, c := range b.tables {
		if c.Table == table {
			return c
		}
	}
	c := &Consumption{Operation: b.operation, Table: table, Write: b.write}
	b.tables = append(b.tables, c)
	return c
}

func (b *bill) onTable(table string, units float64) {
	c := b.entry(table)
	c.Units += units
	c.OnTable += units
}

func (b *bill) onIndex(table, index string, units float64) {
	if units == 0 {
		return
	}
	c := b.entry(table)
	c.Units += units
	if c.OnIndexes == nil {
		c.OnIndexes = make(map[string]float64)
	}
	c.OnIndexes[index] += units
}

// report tells the meter.
func (s *Service) report(b *bill, refused bool) {
	if s.opts.Meter == nil {
		return
	}
	for _, c := range b.tables {
		c.Refused = refused
		s.opts.Meter(*c)
	}
}

// appendOne writes the ConsumedCapacity member of a one-table answer.
func (b *bill) appendOne(o *object, mode capacityMode) {
	if mode == capacityNone || len(b.tables) == 0 {
		return
	}
	o.member("ConsumedCapacity")
	o.text = b.appendTable(o.text, b.tables[0], mode)
}

// appendAll writes the ConsumedCapacity member of an answer about tables.
func (b *bill) appendAll(o *object, mode capacityMode) {
	if mode == capacityNone {
		return
	}
	o.member("ConsumedCapacity")
	o.text = append(o.text, '[')
	for i, c := range b.tables {
		if i > 0 {
			o.text = append(o.text, ',')
		}
		o.text = b.appendTable(o.text, c, mode)
	}
	o.text = append(o.text, ']')
}

func (b *bill) appendTable(dst []byte, c *Consumption, mode capacityMode) []byte {
	o := object{text: dst}
	o.open()
	o.member("TableName")
	o.text = attr.AppendString(o.text, c.Table)
	b.appendUnits(&o, c.Units)
	if mode == capacityIndexes {
		o.member("Table")
		o.text = b.appendPart(o.text, c.OnTable)
		if len(c.OnIndexes) > 0 {
			o.member("GlobalSecondaryIndexes")
			o.text = b.appendIndexes(o.text, c.OnIndexes)
		}
	}
	return o.close()
}

func (b *bill) appendIndexes(dst []byte, parts map[string]float64) []byte {
	o := object{text: dst}
	o.open()
	for _, name := range sortedKeys(parts) {
		o.member(name)
		o.text = b.appendPart(o.text, parts[name])
	}
	return o.close()
}

func (b *bill) appendPart(dst []byte, units float64) []byte {
	o := object{text: dst}
	o.open()
	b.appendUnits(&o, units)
	return o.close()
}

func (b *bill) appendUnits(o *object, units float64) {
	o.member("CapacityUnits")
	o.text = strconv.AppendFloat(o.text, units, 'f', 1, 64)
	if !b.explicit {
		return
	}
	if b.write {
		o.member("WriteCapacityUnits")
	} else {
		o.member("ReadCapacityUnits")
	}
	o.text = strconv.AppendFloat(o.text, units, 'f', 1, 64)
}
