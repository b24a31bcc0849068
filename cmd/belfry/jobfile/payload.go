package jobfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// payload turns any YAML value into JSON, keys in their order.
func (r *reader) payload(into *json.RawMessage) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		if _, empty := n.(*ast.NullNode); empty {
			return
		}
		w := &jsonWriter{reader: r, path: path}
		w.value(n)
		switch {
		case w.tooLarge:
			r.refuse(n, &job.Error{Code: job.CodeTooLarge, Field: path, Bound: fmt.Sprintf("%d bytes", job.MaxPayload),
				Message: fmt.Sprintf("the payload is more than %d bytes of JSON", job.MaxPayload), Fix: "store it with belfry payload put FILE and pass the reference that it prints as payload_ref"})
		default:
			*into = w.out.Bytes()
		}
	}
}

// bareNumber matches the numbers that the reader of YAML takes for text when
// they stand without quotes: 1e3, which has no point, and whole numbers of more
// than 64 bits.
var bareNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// jsonWriter stops as soon as the payload is too large, so that aliases cannot
// make it grow without end.
type jsonWriter struct {
	reader   *reader
	path     string
	out      bytes.Buffer
	tooLarge bool
}

func (w *jsonWriter) write(text string) {
	if w.out.Len()+len(text) > job.MaxPayload {
		w.tooLarge = true
	}
	if !w.tooLarge {
		w.out.WriteString(text)
	}
}

func (w *jsonWriter) text(s string) {
	if len(s) > job.MaxPayload {
		w.tooLarge = true
		return
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err == nil {
		w.write(string(bytes.TrimRight(b.Bytes(), "\n")))
	}
}

func (w *jsonWriter) value(n ast.Node) {
	value, done := w.reader.enter(n)
	defer done()
	if value == nil || w.tooLarge {
		return
	}
	if pairs, isMapping := w.reader.pairs(value); isMapping {
		w.object(pairs)
		return
	}
	switch v := value.(type) {
	case *ast.SequenceNode:
		w.write("[")
		for i, item := range v.Values {
			if i > 0 {
				w.write(",")
			}
			w.value(item)
		}
		w.write("]")
	case *ast.NullNode:
		w.write("null")
	case *ast.BoolNode:
		w.write(strconv.FormatBool(v.Value))
	case *ast.IntegerNode:
		w.write(fmt.Sprint(v.Value))
	case *ast.FloatNode:
		w.float(v)
	case *ast.StringNode, *ast.LiteralNode:
		text, _ := plain(v)
		if v.GetToken().Type == token.StringType && bareNumber.MatchString(text) {
			w.write(text)
			return
		}
		w.text(text)
	default:
		w.reader.wrong(w.path, value, "a value that JSON has", "write text, a number, true, false, null, a list or keys and values")
	}
}

// float keeps the digits that were written where JSON reads them too.
func (w *jsonWriter) float(n *ast.FloatNode) {
	if written := n.GetToken().Value; json.Valid([]byte(written)) {
		w.write(written)
		return
	}
	w.write(strconv.FormatFloat(n.Value, 'g', -1, 64))
}

func (w *jsonWriter) object(pairs []pair) {
	w.write("{")
	for i, p := range pairs {
		if i > 0 {
			w.write(",")
		}
		w.text(p.key)
		w.write(":")
		w.value(p.value)
	}
	w.write("}")
}
