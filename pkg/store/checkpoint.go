package store

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// checkpointMark ends the sort key of an execution's checkpoint, an item of its own:
// saving it must not make claim, heartbeat and settle dearer.
const checkpointMark = "#C"

func checkpointKey(ref job.Ref, k job.Key) item {
	return key(k.Partition(ref), k.String()+checkpointMark)
}

// fenced is a write to a checkpoint that no attempt of a lower token can make.
func (s *Store) fenced(operation string, c *job.Checkpoint) update {
	return update{operation: operation, table: s.tables.Executions, key: checkpointKey(c.Ref, c.Key),
		condition: "attribute_not_exists(#token) OR #token <= :token", names: map[string]string{"#token": "token", "#ttl": TTLAttribute},
		values: item{":token": number(c.Token), ":expires": seconds(s.farExpiry(c.At))}}
}

// SaveCheckpoint writes how far an attempt has come.
//
// Requires: nobody of a higher token has saved or loaded. Writes: the content, or
// where it lies; the token; one more save; an expiry beyond the execution's own.
// Loses when: a newer attempt has been there.
// Then the caller: has lost its lease, and stops.
func (s *Store) SaveCheckpoint(ctx context.Context, c *job.Checkpoint) error {
	u := s.fenced("save checkpoint", c)
	u.set = "SET #token = :token, saved_by = :token, saved_at = :at, content_size = :size, #ttl = :expires, saves = if_not_exists(saves, :nought) + :one"
	u.values[":at"], u.values[":size"] = millis(c.At), number(c.Size)
	u.values[":nought"], u.values[":one"] = number(0), number(1)
	u.condition, u.set = "("+u.condition+")", u.set+contentOf(c, u.values)
	_, err := s.update(ctx, u)
	return err
}

// contentOf is the rest of the expression: in the table or in the bucket, never both.
func contentOf(c *job.Checkpoint, values item) string {
	if c.Object == "" {
		values[":content"] = &types.AttributeValueMemberB{Value: c.Content}
		return ", content = :content REMOVE object_name, digest"
	}
	values[":object"], values[":digest"] = text(c.Object), text(c.Digest)
	return ", object_name = :object, digest = :digest REMOVE content"
}

// FenceCheckpoint reads how far an execution has come on behalf of an attempt that
// is not the first, and keeps every attempt before it from saving. Nil: nothing was
// saved.
//
// Requires: nobody of a higher token has saved or loaded. Writes: the token.
// Loses when: a newer attempt has been there.
// Then the caller: has lost its lease, and stops.
func (s *Store) FenceCheckpoint(ctx context.Context, ref job.Ref, k job.Key, token int64, at time.Time) (*job.Checkpoint, error) {
	u := s.fenced("fence checkpoint", &job.Checkpoint{Ref: ref, Key: k, Token: token, At: at})
	u.set, u.wantNew = "SET #token = :token, #ttl = :expires", true
	written, err := s.update(ctx, u)
	if err != nil {
		return nil, err
	}
	return decodeCheckpoint(ref, k, written), nil
}

// Checkpoint strongly reads how far an execution has come; nil when nothing was
// saved.
func (s *Store) Checkpoint(ctx context.Context, ref job.Ref, k job.Key) (*job.Checkpoint, error) {
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(s.tables.Executions), Key: checkpointKey(ref, k),
		ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: s.capacity()})
	if err != nil {
		return nil, fault("read checkpoint", err)
	}
	s.meter("read checkpoint", out.ConsumedCapacity)
	return decodeCheckpoint(ref, k, out.Item), nil
}

func decodeCheckpoint(ref job.Ref, k job.Key, stored item) *job.Checkpoint {
	r := &reader{item: stored}
	c := &job.Checkpoint{Ref: ref, Key: k, Token: r.number("token"), SavedBy: r.number("saved_by"), Number: r.number("saves"), At: r.millis("saved_at"),
		Size: r.number("content_size"), Object: r.text("object_name"), Digest: r.text("digest")}
	if c.Number == 0 {
		return nil
	}
	if v, ok := stored["content"].(*types.AttributeValueMemberB); ok {
		c.Content = v.Value
	}
	return c
}
