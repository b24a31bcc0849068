package store

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"sort"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// jobsPage is the place in a walk over a tenant's shards.
type jobsPage struct {
	Shard int    `json:"s"`
	Start string `json:"k,omitempty"`
}

// ListJobs pages through a tenant's jobs: by shard, by name within one. The
// index names them; the heads are read beside it. The last page's cursor is
// empty.
func (s *Store) ListJobs(ctx context.Context, tenant, cursor string, limit int) ([]job.Head, string, error) {
	page, err := decodeJobsPage(cursor)
	if err != nil {
		return nil, "", err
	}
	var refs []job.Ref
	for page.Shard < tenantShards && len(refs) < limit {
		from, err := decodeStart(page.Start)
		if err != nil {
			return nil, "", err
		}
		out, err := s.db.Query(ctx, &dynamodb.QueryInput{TableName: aws.String(s.tables.Jobs), IndexName: aws.String(IndexTenant),
			KeyConditionExpression:    aws.String("tenant_shard = :shard"),
			ExpressionAttributeValues: item{":shard": text(shardOfTenant(tenant, page.Shard))},
			Limit:                     aws.Int32(int32(limit - len(refs))), ExclusiveStartKey: from, ReturnConsumedCapacity: s.capacity()})
		if err != nil {
			return nil, "", pageFault("list the jobs", page.Start, err)
		}
		s.meter("list jobs", out.ConsumedCapacity)
		for _, stored := range out.Items {
			r := &reader{item: stored}
			refs = append(refs, refOf(r.text(PartitionKey)))
		}
		page.Start = encodeStart(out.LastEvaluatedKey)
		if page.Start == "" {
			page.Shard++
		}
	}
	heads, err := s.Heads(ctx, refs)
	if err != nil {
		return nil, "", err
	}
	list := make([]job.Head, len(heads))
	for i, h := range heads {
		list[i] = *h
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Job < list[j].Job })
	return list, encodeJobsPage(page), nil
}

func encodeJobsPage(p jobsPage) string {
	if p.Shard >= tenantShards {
		return ""
	}
	encoded, _ := json.Marshal(p) // always encodes
	return base64.RawURLEncoding.EncodeToString(encoded)
}

func decodeJobsPage(cursor string) (jobsPage, error) {
	if cursor == "" {
		return jobsPage{}, nil
	}
	var p jobsPage
	decoded, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || json.Unmarshal(decoded, &p) != nil || p.Shard < 0 {
		return jobsPage{}, &job.Error{Code: job.CodeInvalid, Field: "cursor", Value: job.Shorten(cursor), Message: "the page cursor is not one of ours",
			Fix: "start from the first page"}
	}
	return p, nil
}
