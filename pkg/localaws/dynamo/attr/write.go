package attr

import (
	"encoding/base64"
	"unicode/utf8"
)

// AppendJSON appends the wire form of item: {"name":{"S":"value"},…}.
func (item Item) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	for i, attribute := range item {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, attribute.Name)
		dst = append(dst, ':')
		dst = attribute.Value.AppendJSON(dst)
	}
	return append(dst, '}')
}

// AppendJSON appends the wire form of a value: {"S":"text"}.
func (v Value) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{', '"')
	dst = append(dst, v.Kind.String()...)
	dst = append(dst, '"', ':')
	switch v.Kind {
	case S, N, B:
		dst = v.appendScalar(dst)
	case BOOL:
		dst = appendBool(dst, v.Bool)
	case NULL:
		dst = append(dst, "true"...)
	case M:
		dst = v.Map.AppendJSON(dst)
	case L, SS, NS, BS:
		dst = v.appendList(dst)
	case Absent: // never stored
	}
	return append(dst, '}')
}

func (v Value) appendList(dst []byte) []byte {
	dst = append(dst, '[')
	for i, element := range v.List {
		if i > 0 {
			dst = append(dst, ',')
		}
		if v.Kind == L {
			dst = element.AppendJSON(dst)
		} else {
			dst = element.appendScalar(dst)
		}
	}
	return append(dst, ']')
}

func (v Value) appendScalar(dst []byte) []byte {
	if v.Kind != B {
		return AppendString(dst, v.Text)
	}
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, []byte(v.Text))
	return append(dst, '"')
}

func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, "true"...)
	}
	return append(dst, "false"...)
}

const hexDigits = "0123456789abcdef"

// AppendString appends text as a JSON string.
func AppendString(dst []byte, text string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := range len(text) {
		b := text[i]
		if b >= 0x20 && b != '"' && b != '\\' {
			continue
		}
		dst = append(dst, text[start:i]...)
		start = i + 1
		switch b {
		case '"', '\\':
			dst = append(dst, '\\', b)
		case '\n':
			dst = append(dst, '\\', 'n')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&15])
		}
	}
	dst = append(dst, text[start:]...)
	return append(dst, '"')
}

// Runes is the length of a text in characters, which is what size() reports.
func (v Value) Runes() int { return utf8.RuneCountInString(v.Text) }
