package attr

// Size rules as documented for item sizes: the UTF-8 bytes of names and texts,
// raw bytes of binaries, one byte for BOOL and NULL, one byte per two
// significant digits plus one for numbers (plus one for the sign of a negative
// one), three bytes for a list or map plus one for each element.

// Size is the bytes that an item counts.
func (item Item) Size() int {
	size := 0
	for _, attribute := range item {
		size += len(attribute.Name) + attribute.Value.Size()
	}
	return size
}

// Size is the bytes that a value counts, without a name.
func (v Value) Size() int {
	switch v.Kind {
	case S, B:
		return len(v.Text)
	case N:
		return numberSize(v.Text)
	case BOOL, NULL:
		return 1
	case SS, NS, BS:
		size := 0
		for _, member := range v.List {
			size += member.Size()
		}
		return size
	case L:
		size := 3 + len(v.List)
		for _, element := range v.List {
			size += element.Size()
		}
		return size
	case M:
		return 3 + len(v.Map) + v.Map.Size()
	case Absent:
	}
	return 0
}

func numberSize(text string) int {
	d := takeApart(text)
	size := (len(d.digits)+1)/2 + 1
	if d.negative {
		size++
	}
	return size
}
