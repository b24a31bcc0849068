package template

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// MaxOutput bounds what a text, or a whole payload, may become, in bytes.
const MaxOutput = 64 << 10

// Render fills a text in. escape is what becomes of each value, but not of what
// stands around it; nil leaves values as they are.
func (t *Template) Render(f Facts, escape func(string) string) (string, error) {
	var b strings.Builder
	for _, p := range t.parts {
		if p.expression == nil {
			b.WriteString(p.literal)
			continue
		}
		v, err := p.expression.value(&f)
		if err != nil {
			return "", err
		}
		text := v.plain()
		if last := len(p.expression.filters) - 1; last >= 0 && p.expression.filters[last].name == "json" {
			text = v.text
		}
		if escape != nil {
			text = escape(text)
		}
		if b.WriteString(text); b.Len() > MaxOutput {
			return "", tooLong()
		}
	}
	return b.String(), nil
}

func tooLong() error {
	return wrong(fmt.Sprint(MaxOutput), fmt.Sprintf("%d bytes", MaxOutput), fmt.Sprintf("filled in, it becomes longer than %d bytes", MaxOutput), "fill in less")
}

// whole is the expression that a text consists of, when its value is to take the
// text's place as JSON; nil otherwise.
func (t *Template) whole() *expression {
	if len(t.parts) != 1 || t.parts[0].expression == nil {
		return nil
	}
	e := t.parts[0].expression
	if n := len(e.filters); n == 0 || e.filters[n-1].name != "json" {
		return nil
	}
	return e
}

func (e *expression) value(f *Facts) (value, error) {
	v := textOf(e.source.literal)
	var missing error
	if !e.source.isLiteral {
		k, _ := find(e.source.name)
		v = k.of(f)
		if v.kind == isTime {
			v.at = v.at.In(zone(f))
		}
		if len(e.source.path) > 0 {
			v, missing = member(f.Payload, e.source.path)
		}
	}
	if Has(v.text) && v.kind == isJSON {
		return v, wrong(e.text, "members without templates", "the member of the payload holds a template itself, which is not filled in twice", "name a member that holds none")
	}
	for _, filter := range e.filters {
		var err error
		if v, err = filter.apply(v, f); err != nil {
			return v, err
		}
	}
	if !v.absent {
		return v, nil
	}
	if missing == nil {
		missing = wrong(e.text, "a value", "there is no value for "+shorten(e.text), "name what is there, or add | default '…'")
	}
	return v, missing
}

// Payload fills in the strings of a JSON document, wherever they stand as values.
// All else stays as it was written, byte for byte. A string that consists of one
// template with the filter json at its end becomes the value itself.
func Payload(document json.RawMessage, f Facts) (json.RawMessage, error) {
	if !bytes.Contains(document, []byte("{{")) && !bytes.Contains(document, []byte(`\u007b`)) && !bytes.Contains(document, []byte(`\u007B`)) {
		return document, nil
	}
	f.Payload = document
	var out bytes.Buffer
	for i := 0; i < len(document); {
		if document[i] != '"' {
			out.WriteByte(document[i])
			i++
			continue
		}
		end := stringEnd(document, i)
		filled, err := fill(document[i:end], isKey(document[end:]), f)
		if err != nil {
			return nil, err
		}
		if out.Write(filled); out.Len() > MaxOutput {
			return nil, tooLong()
		}
		i = end
	}
	return out.Bytes(), nil
}

// stringEnd is behind the closing quote of the string that begins at i.
func stringEnd(document []byte, i int) int {
	for i++; i < len(document); i++ {
		switch document[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(document)
}

func isKey(after []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(after, " \t\r\n"), []byte(":")) }

// fill gives a string of the document, filled in.
func fill(token []byte, key bool, f Facts) ([]byte, error) {
	var text string
	if json.Unmarshal(token, &text) != nil {
		return nil, wrong(shorten(string(token)), "JSON", "the payload is not valid JSON", "send any JSON value")
	}
	if !Has(text) {
		return token, nil
	}
	if key {
		return nil, wrong(shorten(text), "keys without templates", "a key of the payload cannot be filled in", "write the key out")
	}
	t, err := Parse(text)
	if err != nil {
		return nil, err
	}
	if e := t.whole(); e != nil {
		v, err := e.value(&f)
		return []byte(v.text), err
	}
	filled, err := t.Render(f, nil)
	return []byte(quote(filled)), err
}

// quote is a text as JSON, with its characters left as they are where JSON can
// hold them.
func quote(text string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		panic(err) // a text has a form in JSON
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func compact(document string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(document)) != nil {
		return document
	}
	return b.String()
}
