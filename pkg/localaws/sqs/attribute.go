package sqs

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// attribute is one message attribute, as it is sent, stored and shown.
type attribute struct {
	DataType    string
	StringValue *string `json:",omitempty"`
	BinaryValue []byte  `json:",omitempty"`

	// SQS reserves the lists and takes none.
	StringListValues []string `json:",omitempty"`
	BinaryListValues [][]byte `json:",omitempty"`
}

func md5Hex(text string) string {
	sum := md5.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// attributesMD5 is the digest that SDKs check: every name, type and value in
// order of names, each led by its length, and one byte that tells texts from
// binaries. It is empty without attributes.
func attributesMD5(attributes map[string]attribute) string {
	if len(attributes) == 0 {
		return ""
	}
	hash := md5.New()
	write := func(part []byte) {
		hash.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part))))
		hash.Write(part)
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		a := attributes[name]
		write([]byte(name))
		write([]byte(a.DataType))
		if a.isBinary() {
			hash.Write([]byte{2})
			write(a.BinaryValue)
		} else {
			hash.Write([]byte{1})
			write([]byte(*a.StringValue))
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}

func (a attribute) isBinary() bool {
	return a.DataType == "Binary" || strings.HasPrefix(a.DataType, "Binary.")
}

func (a attribute) size(name string) int {
	size := len(name) + len(a.DataType) + len(a.BinaryValue)
	if a.StringValue != nil {
		size += len(*a.StringValue)
	}
	return size
}

func (a attribute) check(name string) error {
	if err := checkAttributeName(name); err != nil {
		return err
	}
	kind, _, _ := strings.Cut(a.DataType, ".")
	switch {
	case len(a.StringListValues) > 0 || len(a.BinaryListValues) > 0:
		return unsupported("Message attribute list values in SendMessage operation are not supported.")
	case a.DataType == "":
		return badParameter("The message attribute '" + name + "' must contain non-empty message attribute type.")
	case len(a.DataType) > 256 || !slices.Contains([]string{"String", "Number", "Binary"}, kind):
		return badParameter("The message attribute '" + name + "' has an invalid message attribute type, the set of supported type prefixes is Binary, Number, and String.")
	case kind == "Binary" && len(a.BinaryValue) == 0:
		return badParameter("The message attribute '" + name + "' must contain a non-empty binary value for message attribute type 'Binary'.")
	case kind != "Binary" && (a.StringValue == nil || *a.StringValue == ""):
		return badParameter("The message attribute '" + name + "' must contain a non-empty string value for message attribute type '" + kind + "'.")
	case kind == "Binary" && a.StringValue != nil, kind != "Binary" && len(a.BinaryValue) > 0:
		return badParameter("The message attribute '" + name + "' has both or the wrong kind of value for its type.")
	case kind == "Number" && !isNumber(*a.StringValue):
		return badParameter("Can't cast the value of message attribute '" + name + "' to a number.")
	case a.StringValue != nil && !isText(*a.StringValue):
		return badContents()
	}
	return nil
}

func isNumber(text string) bool {
	if len(text) > 64 || strings.ContainsAny(text, "/_xXpPbBoO") {
		return false
	}
	_, ok := new(big.Float).SetString(text)
	return ok
}

func checkAttributeName(name string) error {
	lower := strings.ToLower(name)
	switch {
	case name == "" || len(name) > 256:
		return badParameter("The name of a message attribute must have 1 to 256 characters.")
	case strings.HasPrefix(lower, "aws.") || strings.HasPrefix(lower, "amazon."):
		return badParameter("The message attribute name '" + name + "' uses a reserved prefix.")
	case name[0] == '.' || name[len(name)-1] == '.' || strings.Contains(name, ".."):
		return badParameter("The message attribute name '" + name + "' must not start or end with a period, nor have periods in succession.")
	}
	for _, c := range name {
		if !isAlphanumeric(c) && c != '_' && c != '-' && c != '.' {
			return badParameter("The message attribute name '" + name + "' can contain only A-Z, a-z, 0-9, underscore, hyphen and period.")
		}
	}
	return nil
}

func isAlphanumeric(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// isText tells whether every character is one that XML 1.0 could carry, which
// is what SQS takes.
func isText(text string) bool {
	for _, c := range text {
		switch {
		case c == '\t', c == '\n', c == '\r':
		case c >= 0x20 && c <= 0xD7FF, c >= 0xE000 && c <= 0xFFFD, c >= 0x10000 && c <= 0x10FFFF:
		default:
			return false
		}
	}
	return true
}

func badContents() error {
	return sender("InvalidMessageContents", "InvalidMessageContents",
		"Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF.")
}

// choose returns the attributes whose names a receiver asked for: a name, a
// prefix followed by ".*", or everything by "All" or ".*".
func choose(attributes map[string]attribute, asked []string) map[string]attribute {
	chosen := make(map[string]attribute)
	for name, a := range attributes {
		if slices.ContainsFunc(asked, func(pattern string) bool { return selects(pattern, name) }) {
			chosen[name] = a
		}
	}
	return chosen
}

func selects(pattern, name string) bool {
	if pattern == "All" || pattern == ".*" || pattern == name {
		return true
	}
	prefix, ok := strings.CutSuffix(pattern, ".*")
	return ok && strings.HasPrefix(name, prefix)
}
