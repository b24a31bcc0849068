package archive

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

// unread keeps the record as it came, and says why.
func (c *change) unread(why error) Row {
	pk := c.key(store.PartitionKey)
	tenant, _, _ := strings.Cut(strings.TrimPrefix(pk, store.AuditPrefix), "/")
	at := c.Change.ApproximateCreationDateTime.Time
	u := unread{ID: c.id(0), Schema: job.Schema, At: instant(at), Item: pk + " " + c.key(store.SortKey), Event: c.EventName,
		Why: job.Shorten(why.Error()), Before: written(c.before), After: written(c.after)}
	row := c.row(Unread, u.ID, tenant, at, u)
	if len(row.Line) > mostLine {
		u.Bytes = len(u.Before) + len(u.After)
		u.Before, u.After = "", ""
		row.Line = line(u)
	}
	return row
}

// written is an image as the text of a JSON document, or why there is none.
func written(of image) (text string) {
	defer func() {
		if panicked := recover(); panicked != nil {
			text = `"it cannot be written"`
		}
	}()
	if len(of) == 0 {
		return ""
	}
	encoded, err := json.Marshal(of)
	if err != nil {
		return strconv.Quote("it cannot be written: " + err.Error())
	}
	return string(encoded)
}

// line is one of our rows as JSON; they always encode.
func line(content any) []byte {
	encoded, err := json.Marshal(content)
	if err != nil {
		panic("archive: a row of ours does not encode: " + err.Error())
	}
	return encoded
}
