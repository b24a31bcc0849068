package jsonread

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// String reads a string. Without escapes it shares the memory of the text.
func (r *Reader) String() (string, error) {
	if !r.take('"') {
		return "", r.fail("expected a string")
	}
	start := r.at
	for r.at < len(r.text) {
		switch b := r.text[r.at]; {
		case b == '"':
			r.at++
			return r.text[start : r.at-1], nil
		case b == '\\':
			return r.escaped(start)
		case b < 0x20:
			return "", r.fail("control character in a string")
		}
		r.at++
	}
	return "", r.fail("unterminated string")
}

func (r *Reader) escaped(start int) (string, error) {
	var out strings.Builder
	out.WriteString(r.text[start:r.at])
	for r.at < len(r.text) {
		b := r.text[r.at]
		switch {
		case b == '"':
			r.at++
			return out.String(), nil
		case b == '\\':
			r.at++
			if err := r.escape(&out); err != nil {
				return "", err
			}
		case b < 0x20:
			return "", r.fail("control character in a string")
		default:
			out.WriteByte(b)
			r.at++
		}
	}
	return "", r.fail("unterminated string")
}

func (r *Reader) escape(out *strings.Builder) error {
	if r.at >= len(r.text) {
		return r.fail("unterminated string")
	}
	b := r.text[r.at]
	r.at++
	switch b {
	case '"', '\\', '/':
		out.WriteByte(b)
	case 'b':
		out.WriteByte('\b')
	case 'f':
		out.WriteByte('\f')
	case 'n':
		out.WriteByte('\n')
	case 'r':
		out.WriteByte('\r')
	case 't':
		out.WriteByte('\t')
	case 'u':
		return r.unicode(out)
	default:
		return r.fail("unknown escape")
	}
	return nil
}

// unicode joins surrogate pairs; a lone half becomes the replacement
// character, as it has no UTF-8 form.
func (r *Reader) unicode(out *strings.Builder) error {
	first, ok := r.hex4()
	if !ok {
		return r.fail("malformed \\u escape")
	}
	if !utf16.IsSurrogate(first) {
		out.WriteRune(first)
		return nil
	}
	if strings.HasPrefix(r.text[r.at:], `\u`) {
		mark := r.at
		r.at += 2
		second, ok := r.hex4()
		if joined := utf16.DecodeRune(first, second); ok && joined != utf8.RuneError {
			out.WriteRune(joined)
			return nil
		}
		r.at = mark
	}
	out.WriteRune(utf8.RuneError)
	return nil
}

func (r *Reader) hex4() (rune, bool) {
	if len(r.text)-r.at < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(r.text[r.at:r.at+4], 16, 32)
	if err != nil {
		return 0, false
	}
	r.at += 4
	return rune(n), true
}
