package attr

import (
	"encoding/binary"
	"errors"
)

// ErrRecord means that stored bytes are not an item.
var ErrRecord = errors.New("attr: damaged record")

// AppendRecord appends the compact stored form of item.
func AppendRecord(dst []byte, item Item) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(item)))
	for _, attribute := range item {
		dst = appendText(dst, attribute.Name)
		dst = appendValue(dst, attribute.Value)
	}
	return dst
}

func appendValue(dst []byte, v Value) []byte {
	dst = append(dst, byte(v.Kind))
	switch v.Kind {
	case BOOL:
		flag := byte(0)
		if v.Bool {
			flag = 1
		}
		return append(dst, flag)
	case M:
		return AppendRecord(dst, v.Map)
	case L, SS, NS, BS:
		dst = binary.AppendUvarint(dst, uint64(len(v.List)))
		for _, element := range v.List {
			dst = appendValue(dst, element)
		}
		return dst
	case S, N, B:
		return appendText(dst, v.Text)
	case NULL, Absent:
	}
	return dst
}

func appendText(dst []byte, text string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(text)))
	return append(dst, text...)
}

// Record reads what AppendRecord wrote. All texts of the item share one copy
// of data, so the caller may forget data afterwards.
func Record(data []byte) (Item, error) {
	r := recordReader{text: string(data)}
	item := r.item()
	if r.broken || r.text != "" {
		return nil, ErrRecord
	}
	return item, nil
}

type recordReader struct {
	text   string
	broken bool
}

func (r *recordReader) item() Item {
	n := r.count()
	item := make(Item, 0, n)
	for range n {
		name := r.string()
		item = append(item, Attribute{name, r.value()})
		if r.broken {
			return nil
		}
	}
	return item
}

func (r *recordReader) value() Value {
	v := Value{Kind: Kind(r.byte())}
	if v.Kind > BS {
		r.broken = true
		return Value{}
	}
	switch v.Kind {
	case BOOL:
		v.Bool = r.byte() == 1
	case M:
		v.Map = r.item()
	case L, SS, NS, BS:
		n := r.count()
		v.List = make([]Value, 0, n)
		for range n {
			v.List = append(v.List, r.value())
			if r.broken {
				break
			}
		}
	case S, N, B:
		v.Text = r.string()
	case NULL:
	case Absent:
		r.broken = true
	}
	return v
}

func (r *recordReader) byte() byte {
	if r.text == "" {
		r.broken = true
		return 0
	}
	b := r.text[0]
	r.text = r.text[1:]
	return b
}

// count reads a length; each counted thing needs at least a byte, so a length
// beyond the rest is damage and not a reason to allocate.
func (r *recordReader) count() int {
	var n uint64
	for shift := 0; shift < 64; shift += 7 {
		b := r.byte()
		n |= uint64(b&0x7F) << shift
		if b < 0x80 {
			break
		}
	}
	if n > uint64(len(r.text)) {
		r.broken = true
		return 0
	}
	return int(n)
}

func (r *recordReader) string() string {
	n := r.count()
	text := r.text[:n]
	r.text = r.text[n:]
	return text
}
