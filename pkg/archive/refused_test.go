package archive

import (
	"errors"
	"testing"
)

func TestTheCauseIsToldAndNotThatOthersWereNotTried(t *testing.T) {
	first, second := errors.New("SlowDown"), errors.New("AccessDenied")
	for sentence, row := range map[string]struct {
		errs    []error
		refused int
		want    error
	}{
		"nothing was refused":                   {[]error{nil, nil}, 0, nil},
		"the first is told":                     {[]error{nil, first, second}, 2, first},
		"one that was tried, before any other":  {[]error{errNotTried, nil, errNotTried, first, second, errNotTried}, 5, first},
		"one that was tried, with others after": {[]error{first, errNotTried, errNotTried}, 3, first},
		"none was tried":                        {[]error{errNotTried}, 1, errNotTried},
	} {
		if refused, err := causeOf(row.errs); refused != row.refused || !errors.Is(err, row.want) {
			t.Errorf("%s: %d refused with %v, want %d with %v", sentence, refused, err, row.refused, row.want)
		}
	}
}
