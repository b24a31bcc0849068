package store

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// WriteAttention adds an execution to its tenant's list of those that need a
// person: dead letters (FAILED, DEAD) on one list, reviews on another.
//
// Requires: nothing. Writes: the entry, under the execution's key and at. A review
// is kept as long as its execution, which has not ended.
// Loses when: never; the same entry again replaces itself.
func (s *Store) WriteAttention(ctx context.Context, e *job.Execution, at time.Time) error {
	review := e.Status == job.NeedsReview
	entry := key(attentionPartition(e.Tenant, review), fmt.Sprintf("%s#%s#%s", attentionTime(at), e.Job, e.Key))
	entry["at"] = millis(at)
	entry["job"] = text(e.Job)
	entry["execution"] = text(e.Key.String())
	entry["status"] = text(string(e.Status))
	entry["reason"] = text(string(e.Reason))
	if e.ErrorCode != "" {
		entry["error_code"] = text(e.ErrorCode)
	}
	entry[TTLAttribute] = seconds(s.expiry(at))
	if review {
		entry[TTLAttribute] = seconds(s.farExpiry(at))
	}
	return s.putControl(ctx, "write attention", entry)
}

// attentionPlace is where an entry stands in the merged list: newest first, a
// dead letter before a review of the same name.
type attentionPlace struct {
	sort   string
	review bool
}

// Attention pages through what needed a person, newest first, out of the list of
// dead letters, that of reviews, or both. It lags by seconds. Each entry carries
// the cursor that goes on behind it; false tells that there is none after the last.
func (s *Store) Attention(ctx context.Context, q job.AttentionQuery) (entries []job.AttentionEntry, more bool, err error) {
	after, err := decodeAttentionPlace(q.Cursor)
	if err != nil {
		return nil, false, err
	}
	var found []placedEntry
	for _, review := range []bool{false, true} {
		if review && !q.Reviews || !review && !q.Letters {
			continue
		}
		part, left, err := s.attentionPart(ctx, q, review, after)
		if err != nil {
			return nil, false, err
		}
		found, more = append(found, part...), more || left
	}
	slices.SortFunc(found, func(a, b placedEntry) int {
		if c := strings.Compare(b.place.sort, a.place.sort); c != 0 || a.place.review == b.place.review {
			return c
		}
		if a.place.review {
			return 1
		}
		return -1
	})
	if len(found) > q.Limit {
		found, more = found[:q.Limit], true
	}
	for _, e := range found {
		entries = append(entries, e.AttentionEntry)
	}
	return entries, more, nil
}

type placedEntry struct {
	job.AttentionEntry
	place attentionPlace
}

// attentionPart reads up to a page of one of the two lists, behind a place of the
// merged one.
func (s *Store) attentionPart(ctx context.Context, q job.AttentionQuery, review bool, after *attentionPlace) (found []placedEntry, more bool, err error) {
	partition, from, upto := attentionPartition(q.Tenant, review), "", "~"
	if !q.Since.IsZero() {
		from = attentionTime(q.Since)
	}
	if from == "" {
		from = "0"
	}
	if !q.Until.IsZero() {
		upto = attentionTime(q.Until) + "#~"
	}
	query := &dynamodb.QueryInput{TableName: aws.String(s.tables.Control), KeyConditionExpression: aws.String("pk = :pk AND sk BETWEEN :from AND :upto"),
		ScanIndexForward: aws.Bool(false), Limit: aws.Int32(int32(q.Limit)), ReturnConsumedCapacity: s.capacity()}
	if after != nil && after.sort <= upto {
		upto = after.sort
		if review == after.review || !review {
			query.ExclusiveStartKey = key(partition, upto)
		}
	}
	if from > upto {
		return nil, false, nil
	}
	query.ExpressionAttributeValues = item{":pk": text(partition), ":from": text(from), ":upto": text(upto)}
	out, err := s.db.Query(ctx, query)
	if err != nil {
		return nil, false, fault("list what needs attention", err)
	}
	s.meter("attention", out.ConsumedCapacity)
	for _, stored := range out.Items {
		r := &reader{item: stored}
		k, err := job.ParseKey(r.text("execution"))
		if err != nil {
			continue // of a newer build
		}
		place := attentionPlace{sort: r.text(SortKey), review: review}
		found = append(found, placedEntry{place: place, AttentionEntry: job.AttentionEntry{
			ExecutionRef: job.ExecutionRef{Ref: job.Ref{Tenant: q.Tenant, Job: r.text("job")}, Key: k},
			At:           r.millis("at"), Status: job.Status(r.text("status")), Reason: job.Reason(r.text("reason")), ErrorCode: r.text("error_code"),
			Cursor: place.encode()}})
	}
	return found, len(out.LastEvaluatedKey) > 0, nil
}

func attentionTime(at time.Time) string { return fmt.Sprintf("%013d", at.UnixMilli()) }

func attentionPartition(tenant string, review bool) string {
	if review {
		return "REVIEW#" + tenant
	}
	return "DEAD#" + tenant
}

func (p attentionPlace) encode() string {
	list := "D"
	if p.review {
		list = "R"
	}
	return base64.RawURLEncoding.EncodeToString([]byte(list + p.sort))
}

// decodeAttentionPlace reads a cursor; nil for an empty one. It names no tenant, so
// that none reaches another's list by it.
func decodeAttentionPlace(cursor string) (*attentionPlace, error) {
	if cursor == "" {
		return nil, nil
	}
	decoded, err := base64.RawURLEncoding.DecodeString(cursor)
	plain := string(decoded)
	if err != nil || len(plain) < 15 || plain[0] != 'D' && plain[0] != 'R' || plain[14] != '#' || strings.Trim(plain[1:14], "0123456789") != "" {
		return nil, foreignCursor(cursor)
	}
	return &attentionPlace{sort: plain[1:], review: plain[0] == 'R'}, nil
}
