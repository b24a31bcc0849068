// Package jsonread reads one JSON text from front to back, member by member,
// so that a request is decoded straight into its own struct and any member
// that nobody asked for is seen. Strings without escapes share the memory of
// the text. The service package calls it for every request body; it must
// never accept what is not JSON.
package jsonread

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// maxDepth bounds nesting, so that hostile input cannot exhaust the stack.
const maxDepth = 128

// Error says where the text stopped being what was expected.
type Error struct {
	Offset  int
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("%s at offset %d", e.Message, e.Offset) }

// Reader is a position in a JSON text.
type Reader struct {
	text  string
	at    int
	depth int
}

// New starts reading text. It must be valid UTF-8, which New checks.
func New(text string) (*Reader, error) {
	if !utf8.ValidString(text) {
		return nil, &Error{Message: "the body is not valid UTF-8"}
	}
	return &Reader{text: text}, nil
}

// End fails when anything but white space is left.
func (r *Reader) End() error {
	r.space()
	if r.at < len(r.text) {
		return r.fail("unexpected text after the end of the document")
	}
	return nil
}

// Null consumes a null and reports whether there was one.
func (r *Reader) Null() bool { return r.literal("null") }

// Object calls member with each name; member must read the value.
func (r *Reader) Object(member func(name string) error) error {
	if err := r.open('{'); err != nil {
		return err
	}
	if r.take('}') {
		return r.close()
	}
	for {
		name, err := r.String()
		if err != nil {
			return err
		}
		if !r.take(':') {
			return r.fail("expected ':'")
		}
		if err := member(name); err != nil {
			return err
		}
		if r.take(',') {
			continue
		}
		if r.take('}') {
			return r.close()
		}
		return r.fail("expected ',' or '}'")
	}
}

// Array calls element for each element; element must read the value.
func (r *Reader) Array(element func() error) error {
	if err := r.open('['); err != nil {
		return err
	}
	if r.take(']') {
		return r.close()
	}
	for {
		if err := element(); err != nil {
			return err
		}
		if r.take(',') {
			continue
		}
		if r.take(']') {
			return r.close()
		}
		return r.fail("expected ',' or ']'")
	}
}

// Bool reads true or false.
func (r *Reader) Bool() (bool, error) {
	if r.literal("true") {
		return true, nil
	}
	if r.literal("false") {
		return false, nil
	}
	return false, r.fail("expected a boolean")
}

// Number reads a number and returns its text.
func (r *Reader) Number() (string, error) {
	r.space()
	start := r.at
	for r.at < len(r.text) && isNumberByte(r.text[r.at]) {
		r.at++
	}
	text := r.text[start:r.at]
	if text == "" || !json.Valid([]byte(text)) {
		return "", r.fail("expected a number")
	}
	return text, nil
}

// Int reads a whole number.
func (r *Reader) Int() (int64, error) {
	text, err := r.Number()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, r.fail("expected a whole number")
	}
	return n, nil
}

// Raw reads any value and returns its text.
func (r *Reader) Raw() (string, error) {
	r.space()
	start := r.at
	err := r.skip()
	return r.text[start:r.at], err
}

func (r *Reader) skip() error {
	r.space()
	if r.at >= len(r.text) {
		return r.fail("unexpected end")
	}
	switch r.text[r.at] {
	case '{':
		return r.Object(func(string) error { return r.skip() })
	case '[':
		return r.Array(r.skip)
	case '"':
		_, err := r.String()
		return err
	}
	if r.literal("true") || r.literal("false") || r.literal("null") {
		return nil
	}
	_, err := r.Number()
	return err
}

func (r *Reader) open(bracket byte) error {
	if !r.take(bracket) {
		return r.fail("expected '" + string(bracket) + "'")
	}
	if r.depth++; r.depth > maxDepth {
		return r.fail("nested too deeply")
	}
	return nil
}

func (r *Reader) close() error {
	r.depth--
	return nil
}

func (r *Reader) take(b byte) bool {
	r.space()
	if r.at < len(r.text) && r.text[r.at] == b {
		r.at++
		return true
	}
	return false
}

func (r *Reader) literal(word string) bool {
	r.space()
	if len(r.text)-r.at >= len(word) && r.text[r.at:r.at+len(word)] == word {
		r.at += len(word)
		return true
	}
	return false
}

func (r *Reader) space() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return
		}
	}
}

func (r *Reader) fail(message string) error { return &Error{Offset: r.at, Message: message} }

func isNumberByte(b byte) bool {
	return b >= '0' && b <= '9' || b == '-' || b == '+' || b == '.' || b == 'e' || b == 'E'
}
