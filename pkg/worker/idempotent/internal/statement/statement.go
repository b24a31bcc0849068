package statement

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
)

// Schema makes both tables where they are not there.
const Schema = `CREATE TABLE IF NOT EXISTS belfry_inbox (
	action     text PRIMARY KEY,
	entered_by text NOT NULL,
	entered_at timestamptz NOT NULL DEFAULT now(),
	result     json
);
CREATE TABLE IF NOT EXISTS belfry_fence (
	resource           text PRIMARY KEY,
	last_fencing_token text COLLATE "C" NOT NULL
);`

// Enter waits for a transaction that has entered the same action to end; it
// changes a row when there is none.
const Enter = `INSERT INTO belfry_inbox (action, entered_by) VALUES ($1, $2) ON CONFLICT (action) DO NOTHING`

// Stored is the result of an action; Keep stores it.
const (
	Stored = `SELECT result FROM belfry_inbox WHERE action = $1`
	Keep   = `UPDATE belfry_inbox SET result = $2 WHERE action = $1`
)

// Hold raises the fence of a resource, and locks it until the transaction ends; it
// changes no row when a newer one is there. Holder reads that one.
const (
	Hold = `INSERT INTO belfry_fence AS held (resource, last_fencing_token) VALUES ($1, $2)
ON CONFLICT (resource) DO UPDATE SET last_fencing_token = excluded.last_fencing_token WHERE held.last_fencing_token <= excluded.last_fencing_token`
	Holder = `SELECT last_fencing_token FROM belfry_fence WHERE resource = $1`
)

// Update is one row's fenced UPDATE.
type Update struct {
	Table  string
	Where  string
	Key    []any
	Set    string
	Values []any
}

// Text is the statement and its arguments.
func (u Update) Text(f idempotent.Fence) (string, []any) {
	fence := "$" + strconv.Itoa(len(u.Key)+len(u.Values)+1)
	args := make([]any, 0, len(u.Key)+len(u.Values)+1)
	args = append(append(append(args, u.Key...), u.Values...), string(f))
	return fmt.Sprintf(`UPDATE %s SET %s, last_fencing_token = %s WHERE (%s) AND (last_fencing_token IS NULL OR last_fencing_token COLLATE "C" <= %s)`,
		u.Table, u.Set, fence, u.Where, fence), args
}

// Holder reads the fence of the row.
func (u Update) Holder() (string, []any) {
	return fmt.Sprintf(`SELECT coalesce(last_fencing_token, '') FROM %s WHERE %s`, u.Table, u.Where), u.Key
}

// Check refuses an update that lacks a part.
func (u Update) Check() error {
	return complete("update", []part{{"Table", u.Table}, {"Where", u.Where}, {"Set", u.Set}})
}

// Row is a row with a business key of its own.
type Row struct {
	Table     string
	Unique    []string
	Columns   []string
	Values    []any
	Returning string
}

// Insert is the statement that puts the row where none has its key.
func (r Row) Insert() (string, []any) {
	places := make([]string, len(r.Values))
	for i := range places {
		places[i] = "$" + strconv.Itoa(i+1)
	}
	return fmt.Sprintf(`INSERT INTO %s (%s) VALUES (%s) ON CONFLICT (%s) DO NOTHING RETURNING %s`,
		r.Table, strings.Join(r.Columns, ", "), strings.Join(places, ", "), strings.Join(r.Unique, ", "), r.Returning), r.Values
}

// Find is the statement that reads the row which has the key.
func (r Row) Find() (string, []any) {
	var where []string
	var args []any
	for _, unique := range r.Unique {
		for i, column := range r.Columns {
			if column == unique {
				args = append(args, r.Values[i])
				where = append(where, fmt.Sprintf("%s = $%d", column, len(args)))
			}
		}
	}
	return fmt.Sprintf(`SELECT %s FROM %s WHERE %s`, r.Returning, r.Table, strings.Join(where, " AND ")), args
}

// Check refuses a row whose key has no values.
func (r Row) Check() error {
	if err := complete("row", []part{{"Table", r.Table}, {"Unique", strings.Join(r.Unique, "")}, {"Returning", r.Returning}}); err != nil {
		return err
	}
	if len(r.Columns) != len(r.Values) {
		return &job.Error{Code: job.CodeInvalid, Field: "row.Values", Value: strconv.Itoa(len(r.Values)), Bound: strconv.Itoa(len(r.Columns)),
			Message: "there must be one value for each column", Fix: "give Columns and Values in the same order"}
	}
	if _, args := r.Find(); len(args) != len(r.Unique) {
		return &job.Error{Code: job.CodeInvalid, Field: "row.Unique", Value: job.Shorten(strings.Join(r.Unique, ", ")),
			Message: "a column of the business key is not among the columns once", Fix: "name each column of Unique in Columns, too, spelt alike"}
	}
	return nil
}

type part struct{ name, text string }

func complete(what string, parts []part) error {
	for _, p := range parts {
		if strings.TrimSpace(p.text) == "" {
			return &job.Error{Code: job.CodeInvalid, Field: what + "." + p.name, Message: "it is empty", Fix: "give the text as it stands in the statement"}
		}
	}
	return nil
}

// Missing says that there is no row to write.
func Missing(u Update) error {
	return &job.Error{Code: job.CodeNotFound, Field: u.Table, Message: "no row is " + u.Where, Fix: "insert it first, or hold a fence by name (Hold)"}
}

// Several says that an update met more than one row; the transaction must be rolled back.
func Several(u Update, rows int64) error {
	return &job.Error{Code: job.CodeInvalid, Field: u.Table, Value: strconv.FormatInt(rows, 10), Bound: "1",
		Message: "a fenced update met more than one row, and cannot tell which of them a newer attempt has written",
		Fix:     "roll back; name one row by its key, or hold a fence by name (Hold) and update what you like"}
}
