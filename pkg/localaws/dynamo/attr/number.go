package attr

import (
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// Bounds of a number: 38 significant digits, magnitude 1E-130 to
// 9.99…E+125, or zero.
const (
	maxDigits   = 38
	maxExponent = 125
	minExponent = -130
)

var exact = apd.Context{Precision: 600, MaxExponent: 10_000, MinExponent: -10_000}

// Invalid is a value that the service refuses; Message is its wording.
type Invalid struct{ Message string }

func (e *Invalid) Error() string { return e.Message }

// Number parses text into a canonical N: plain decimal notation without
// superfluous zeros, so that equal numbers have equal text.
func Number(text string) (Value, error) {
	if isShortInteger(text) {
		return Value{Kind: N, Text: text}, nil
	}
	if !hasNumberShape(text) {
		return Value{}, &Invalid{"The parameter cannot be converted to a numeric value: " + text}
	}
	var d apd.Decimal
	if _, _, err := d.SetString(text); err != nil || d.Form != apd.Finite {
		return Value{}, &Invalid{"The parameter cannot be converted to a numeric value: " + text}
	}
	return canonical(&d)
}

func canonical(d *apd.Decimal) (Value, error) {
	if d.IsZero() {
		return Value{Kind: N, Text: "0"}, nil
	}
	var reduced apd.Decimal
	reduced.Reduce(d)
	digits := reduced.NumDigits()
	exponent := int64(reduced.Exponent) + digits - 1
	switch {
	case exponent > maxExponent:
		return Value{}, &Invalid{"Number overflow. Attempting to store a number with magnitude larger than supported range"}
	case exponent < minExponent:
		return Value{}, &Invalid{"Number underflow. Attempting to store a number with magnitude smaller than supported range"}
	case digits > maxDigits:
		return Value{}, &Invalid{"Attempting to store more than 38 significant digits in a Number"}
	}
	return Value{Kind: N, Text: reduced.Text('f')}, nil
}

// isShortInteger recognises what is canonical already, the common case.
func isShortInteger(text string) bool {
	digits := text
	if len(digits) > 1 && digits[0] == '-' {
		digits = digits[1:]
	}
	if digits == "" || len(digits) > 18 || digits[0] == '0' {
		return text == "0"
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return true
}

// hasNumberShape keeps out what apd would read but the service would not
// (NaN, Infinity), and exponents that could make apd work for ever.
func hasNumberShape(text string) bool {
	if text == "" || len(text) > 512 {
		return false
	}
	mantissa, exponent, found := strings.Cut(strings.ToLower(text), "e")
	if found && (len(exponent) == 0 || len(exponent) > 5) {
		return false
	}
	digits := false
	for i := range len(mantissa) {
		b := mantissa[i]
		digits = digits || b >= '0' && b <= '9'
		if (b < '0' || b > '9') && b != '.' && (i > 0 || b != '-' && b != '+') {
			return false
		}
	}
	return digits
}

// Add and Sub compute exactly; a result that needs more than 38 digits or
// leaves the range is refused.
func Add(a, b Value) (Value, error) {
	if x, y, ok := smallInts(a, b); ok {
		return Value{Kind: N, Text: strconv.FormatInt(x+y, 10)}, nil
	}
	return arithmetic(exact.Add, a, b)
}

// Sub returns a - b; see Add.
func Sub(a, b Value) (Value, error) {
	if x, y, ok := smallInts(a, b); ok {
		return Value{Kind: N, Text: strconv.FormatInt(x-y, 10)}, nil
	}
	return arithmetic(exact.Sub, a, b)
}

// smallInts says whether both numbers are whole and small enough for their sum
// to fit 64 bits.
func smallInts(a, b Value) (x, y int64, ok bool) {
	if !isShortInteger(a.Text) || !isShortInteger(b.Text) {
		return 0, 0, false
	}
	x, errX := strconv.ParseInt(a.Text, 10, 64)
	y, errY := strconv.ParseInt(b.Text, 10, 64)
	return x, y, errX == nil && errY == nil
}

func arithmetic(operation func(d, x, y *apd.Decimal) (apd.Condition, error), a, b Value) (Value, error) {
	var x, y, result apd.Decimal
	if _, _, err := x.SetString(a.Text); err != nil {
		return Value{}, err
	}
	if _, _, err := y.SetString(b.Text); err != nil {
		return Value{}, err
	}
	if _, err := operation(&result, &x, &y); err != nil {
		return Value{}, err
	}
	return canonical(&result)
}

// decimal is a canonical number taken apart: 0.d1d2d3… × 10^exponent.
type decimal struct {
	negative bool
	digits   string // without leading and trailing zeros; empty means zero
	exponent int
}

func takeApart(text string) decimal {
	var d decimal
	if text[0] == '-' {
		d.negative = true
		text = text[1:]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	whole = strings.TrimLeft(whole, "0")
	d.exponent = len(whole)
	digits := whole
	if fraction != "" {
		digits = whole + fraction
	}
	if whole == "" {
		trimmed := strings.TrimLeft(fraction, "0")
		d.exponent = len(trimmed) - len(fraction)
		digits = trimmed
	}
	d.digits = strings.TrimRight(digits, "0")
	return d
}

func compareNumbers(a, b string) int {
	if a == b {
		return 0
	}
	x, y := takeApart(a), takeApart(b)
	if sx, sy := x.sign(), y.sign(); sx != sy {
		return sx - sy
	}
	order := x.exponent - y.exponent
	if order == 0 {
		order = strings.Compare(x.digits, y.digits)
	}
	if x.negative {
		return -order
	}
	return order
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	default:
		return 1
	}
}
