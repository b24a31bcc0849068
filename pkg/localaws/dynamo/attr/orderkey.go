package attr

// AppendOrdered appends a form of a key value (S, N or B) whose byte order is
// the service's order and which is not a prefix of any other value's form.
//
// S and B: the bytes, 00 escaped as 00 FF, ended by 00 01.
// N: a byte for the sign, two for the exponent, then pairs of digits, each
// plus one, ended by 00; all but the first byte inverted for negatives.
func AppendOrdered(dst []byte, v Value) []byte {
	if v.Kind == N {
		return appendOrderedNumber(dst, takeApart(v.Text))
	}
	return append(AppendOrderedPrefix(dst, v.Text), 0, 1)
}

// AppendOrderedPrefix appends what the forms of all S (or B) values that begin
// with text begin with.
func AppendOrderedPrefix(dst []byte, text string) []byte {
	for i := range len(text) {
		dst = append(dst, text[i])
		if text[i] == 0 {
			dst = append(dst, 0xFF)
		}
	}
	return dst
}

func appendOrderedNumber(dst []byte, d decimal) []byte {
	sign := d.sign()
	dst = append(dst, byte(2+sign))
	if sign == 0 {
		return dst
	}
	start := len(dst)
	exponent := d.exponent + 1000
	dst = append(dst, byte(exponent>>8), byte(exponent))
	for i := 0; i < len(d.digits); i += 2 {
		pair := (d.digits[i] - '0') * 10
		if i+1 < len(d.digits) {
			pair += d.digits[i+1] - '0'
		}
		dst = append(dst, pair+1)
	}
	dst = append(dst, 0)
	if sign < 0 {
		for i := start; i < len(dst); i++ {
			dst[i] = ^dst[i]
		}
	}
	return dst
}
