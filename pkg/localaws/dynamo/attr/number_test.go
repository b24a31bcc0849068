package attr_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
)

func number(t interface{ Fatal(...any) }, text string) attr.Value {
	v, err := attr.Number(text)
	if err != nil {
		t.Fatal(text, err)
	}
	return v
}

func TestNumbersHaveOneForm(t *testing.T) {
	for given, want := range map[string]string{
		"0": "0", "-0": "0", "+1": "1", "1.0": "1", "007": "7", "1e2": "100", "1E+2": "100", "120e-1": "12", ".5": "0.5", "5.": "5", "-0.50": "-0.5",
		"123456789012345678901": "123456789012345678901", "0.000": "0", "1e-3": "0.001", "00000000000000000000000000000000000000000000001": "1",
		"12345678901234567890123456789012345678000": "12345678901234567890123456789012345678000",
	} {
		if got := number(t, given).Text; got != want {
			t.Errorf("%s becomes %s, want %s", given, got, want)
		}
	}
}

func TestWhatIsNoNumberIsRefused(t *testing.T) {
	for _, text := range []string{"", " 1", "1 ", "one", "NaN", "Infinity", "-", "+", ".", "e1", "1e", "1e+", "1e1e1", "0x1", "1_000", "--1", "1-", "1e999999999999", "1e126", "1e-131",
		"123456789012345678901234567890123456789", "0.123456789012345678901234567890123456789"} {
		_, err := attr.Number(text)
		var invalid *attr.Invalid
		if !errors.As(err, &invalid) {
			t.Errorf("%q is taken: %v", text, err)
		}
	}
}

// drawn are numbers in the range, of every size and sign, and their values.
var drawn = rapid.Custom(func(t *rapid.T) string {
	digits := rapid.StringMatching(`[0-9]{1,38}`).Draw(t, "digits")
	sign := rapid.SampledFrom([]string{"", "-"}).Draw(t, "sign")
	return fmt.Sprintf("%s%sE%d", sign, digits, rapid.IntRange(-130, 125-len(digits)).Draw(t, "exponent"))
})

func exact(t *rapid.T, text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatal(text)
	}
	return r
}

func TestNumbersKeepTheirValueAndOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawn.Draw(t, "a"), drawn.Draw(t, "b")
		if rapid.Bool().Draw(t, "close") {
			b = a[:len(a)-1] + "0"
		}
		x, y := number(t, a), number(t, b)
		want := exact(t, a).Cmp(exact(t, b))
		if exact(t, x.Text).Cmp(exact(t, a)) != 0 {
			t.Fatalf("%s became %s", a, x.Text)
		}
		if got, ok := x.Compare(y); !ok || cmp.Compare(got, 0) != want {
			t.Fatalf("%s against %s: %d, want %d", a, b, got, want)
		}
		if got := bytes.Compare(attr.AppendOrdered(nil, x), attr.AppendOrdered(nil, y)); got != want {
			t.Fatalf("as keys %s against %s: %d, want %d", a, b, got, want)
		}
		if (x.Text == y.Text) != (want == 0) {
			t.Fatalf("%s and %s: texts %s and %s", a, b, x.Text, y.Text)
		}
	})
}

func TestSumsAreExactOrRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := number(t, drawn.Draw(t, "a")), number(t, drawn.Draw(t, "b"))
		sum, err := attr.Add(x, y)
		if err == nil {
			if want := new(big.Rat).Add(exact(t, x.Text), exact(t, y.Text)); exact(t, sum.Text).Cmp(want) != 0 {
				t.Fatalf("%s + %s = %s", x.Text, y.Text, sum.Text)
			}
			back, err := attr.Sub(sum, y)
			if err != nil || back.Text != x.Text {
				t.Fatalf("%s + %s - %s = %s (%v)", x.Text, y.Text, y.Text, back.Text, err)
			}
		}
	})
}

// shortTexts are all texts of up to three bytes, of those bytes that matter to
// the form of keys.
func shortTexts() []string {
	texts := []string{""}
	for i := 0; i < len(texts); i++ {
		if len(texts[i]) == 3 {
			break
		}
		for _, b := range []string{"\x00", "\x01", "a", "\xfe", "\xff"} {
			texts = append(texts, texts[i]+b)
		}
	}
	return texts
}

func TestTextsAreOrderedAndNoneBeginsAnother(t *testing.T) {
	for _, a := range shortTexts() {
		for _, b := range shortTexts() {
			x, y := attr.AppendOrdered(nil, attr.Value{Kind: attr.B, Text: a}), attr.AppendOrdered(nil, attr.Value{Kind: attr.B, Text: b})
			if got, want := bytes.Compare(x, y), cmp.Compare(a, b); got != want {
				t.Fatalf("%q against %q: %d, want %d", a, b, got, want)
			}
			if a != b && bytes.HasPrefix(x, y) {
				t.Fatalf("%q begins with %q", x, y)
			}
			if got := bytes.HasPrefix(x, attr.AppendOrderedPrefix(nil, b)); got != strings.HasPrefix(a, b) {
				t.Fatalf("the form of %q begins with that of %q: %v", a, b, got)
			}
		}
	}
}
