package s3

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// span is the part of an object that goes back: bytes from up to, without, to.
type span struct {
	from, to int64
	asked    bool // by a Range that was understood
}

func (p span) contentRange(size int64) string {
	return fmt.Sprintf("bytes %d-%d/%d", p.from, p.to-1, size)
}

// part reads the Range header. One that is malformed is passed over, as HTTP
// wants it.
func (r *request) part(size int64) (span, error) {
	whole := span{to: size}
	text := r.Header.Get("Range")
	spec, found := strings.CutPrefix(text, "bytes=")
	if !found {
		return whole, nil
	}
	if strings.Contains(spec, ",") {
		return span{}, notImplemented("several ranges in one request")
	}
	first, last, found := strings.Cut(strings.TrimSpace(spec), "-")
	if !found || first == "" && last == "" || !digits(first) || !digits(last) {
		return whole, nil
	}
	part := span{asked: true}
	switch {
	case first == "":
		part.from, part.to = max(0, size-number(last)), size
	case last == "":
		part.from, part.to = number(first), size
	case number(last) < number(first):
		return whole, nil
	default:
		part.from, part.to = number(first), min(size, number(last)+1)
	}
	if part.from >= part.to {
		return span{}, &fault{status: http.StatusRequestedRangeNotSatisfiable, code: "InvalidRange", message: "The requested range is not satisfiable",
			members: []member{{"RangeRequested", text}, {"ActualObjectSize", decimal(size)}}}
	}
	return part, nil
}

func digits(text string) bool {
	return strings.Trim(text, "0123456789") == ""
}

// number reads digits; what is beyond every object stays so.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return math.MaxInt64 - 1
	}
	return min(n, math.MaxInt64-1)
}
