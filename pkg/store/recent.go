package store

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// recentPlace is the last execution that a page of the recent list showed.
type recentPlace struct {
	At  time.Time `json:"at"`
	Job string    `json:"job"`
	Key string    `json:"key"`
}

// newestFirst orders a list: scheduled time, then job, then key, descending.
func newestFirst(a, b recentPlace) int {
	return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Job, a.Job), cmp.Compare(b.Key, a.Key))
}

// recentWalk collects one page of a tenant's recent list.
type recentWalk struct {
	*Store
	tenant string
	query  job.ExecutionQuery
	after  recentPlace // zero = from the start
	found  []job.Execution
}

// Recent pages through a tenant's executions, newest scheduled time first, up
// to 31 days back. Which there are lags by seconds, since the stream consumer
// writes the list; what each is doing is read from the table. q.Before must be
// set: the list begins there.
func (s *Store) Recent(ctx context.Context, tenant string, q job.ExecutionQuery) ([]job.Execution, string, error) {
	w := &recentWalk{Store: s, tenant: tenant, query: q}
	begin := q.Before
	if q.Cursor != "" {
		decoded, err := base64.RawURLEncoding.DecodeString(q.Cursor)
		if err != nil || json.Unmarshal(decoded, &w.after) != nil || w.after.At.IsZero() {
			return nil, "", &job.Error{Code: job.CodeInvalid, Field: "cursor", Value: job.Shorten(q.Cursor), Message: "the page cursor is not one of ours",
				Fix: "start from the first page"}
		}
		begin = w.after.At
	}
	for days := 0; days <= recentDays && !w.full(); days++ {
		day := begin.UTC().AddDate(0, 0, -days)
		upto := "~"
		if days == 0 {
			upto = day.Format(minuteLayout) + "#~"
		}
		if err := w.day(ctx, day, upto); err != nil {
			return nil, "", err
		}
	}
	if !w.full() {
		return w.found, "", nil
	}
	shown := w.found[:q.Limit]
	last := shown[len(shown)-1]
	encoded, _ := json.Marshal(recentPlace{At: last.ScheduledAt, Job: last.Job, Key: last.Key.String()}) // always encodes
	return shown, base64.RawURLEncoding.EncodeToString(encoded), nil
}

// full reports whether there is more than a page's worth.
func (w *recentWalk) full() bool { return len(w.found) > w.query.Limit }

// day walks one partition back. Pages of one minute are gathered before they
// are shown, since batches of the stream know no order among scheduled times.
func (w *recentWalk) day(ctx context.Context, day time.Time, upto string) error {
	query := &dynamodb.QueryInput{TableName: aws.String(w.tables.Control), KeyConditionExpression: aws.String("pk = :pk AND sk <= :upto"),
		ExpressionAttributeValues: item{":pk": text(recentPartition(w.tenant, day)), ":upto": text(upto)},
		ScanIndexForward:          aws.Bool(false), ReturnConsumedCapacity: w.capacity()}
	minute := ""
	var gathered []recentPlace
	for {
		out, err := w.db.Query(ctx, query)
		if err != nil {
			return fault("list recent executions", err)
		}
		w.meter("recent", out.ConsumedCapacity)
		for _, stored := range out.Items {
			r := &reader{item: stored}
			if of, _, _ := strings.Cut(r.text(SortKey), "#"); of != minute {
				if err := w.show(ctx, gathered); err != nil || w.full() {
					return err
				}
				minute, gathered = of, nil
			}
			gathered = append(gathered, places(r.list("entries"))...)
		}
		if len(out.LastEvaluatedKey) == 0 {
			return w.show(ctx, gathered)
		}
		query.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

func places(entries []string) []recentPlace {
	var found []recentPlace
	for _, entry := range entries {
		name, rest, _ := strings.Cut(entry, "|")
		if k, err := job.ParseKey(rest); err == nil {
			found = append(found, recentPlace{At: k.ScheduledAt, Job: name, Key: rest})
		}
	}
	return found
}

// show reads the executions of one minute and keeps those that the query asks
// for and that earlier pages have not shown.
func (w *recentWalk) show(ctx context.Context, gathered []recentPlace) error {
	slices.SortFunc(gathered, newestFirst)
	gathered = slices.Compact(gathered)
	for start := 0; start < len(gathered) && !w.full(); start += batchGet {
		var refs []job.ExecutionRef
		for _, place := range gathered[start:min(start+batchGet, len(gathered))] {
			seen := !w.after.At.IsZero() && newestFirst(place, w.after) <= 0
			if k, err := job.ParseKey(place.Key); err == nil && !seen && !place.At.After(w.query.Before) {
				refs = append(refs, job.ExecutionRef{Ref: job.Ref{Tenant: w.tenant, Job: place.Job}, Key: k})
			}
		}
		executions, err := w.ReadExecutions(ctx, refs, false)
		if err != nil {
			return err
		}
		slices.SortFunc(executions, func(a, b *job.Execution) int {
			return newestFirst(recentPlace{a.ScheduledAt, a.Job, a.Key.String()}, recentPlace{b.ScheduledAt, b.Job, b.Key.String()})
		})
		for _, e := range executions {
			if len(w.query.Statuses) == 0 || slices.Contains(w.query.Statuses, e.Status) {
				w.found = append(w.found, *e)
			}
		}
	}
	return nil
}
