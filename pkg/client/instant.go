package client

import (
	"bytes"
	"encoding/json"
	"time"
)

// TimeLayout is how instants are written on the wire: UTC, milliseconds.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// Time is an instant on the wire. The zero value is null; what is finer than a
// millisecond is cut off, never rounded up, so nothing seems to happen later
// than it did.
type Time struct{ time.Time }

// At makes a wire time of t.
func At(t time.Time) Time { return Time{t} }

// String renders the wire form, "" for the zero value.
func (t Time) String() string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Truncate(time.Millisecond).Format(TimeLayout)
}

// MarshalJSON writes null or the wire form.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + t.String() + `"`), nil
}

// UnmarshalJSON reads null or any RFC 3339 instant.
func (t *Time) UnmarshalJSON(data []byte) error {
	if bytes.Equal(data, []byte("null")) {
		t.Time = time.Time{}
		return nil
	}
	var at time.Time
	if err := json.Unmarshal(data, &at); err != nil {
		return err
	}
	t.Time = at.UTC()
	return nil
}

// Text is a word or sentence that may be absent: the empty string is null.
type Text string

// MarshalJSON writes null or the string.
func (t Text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(t))
}
