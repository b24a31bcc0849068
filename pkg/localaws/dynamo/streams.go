package dynamo

import (
	"context"
	"encoding/json"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
	"github.com/belfry-scheduler/belfry/pkg/localaws/wire"
)

// Streams answers the operations of DynamoDBStreams_20120810 over the same
// tables. A stream has one shard, which never closes, so records come in the
// order of the writes; the service promises that order for each item only.
func (s *Service) Streams() wire.Service { return streams{s} }

type streams struct{ service *Service }

var streamOperations = map[string]operation{
	"ListStreams":      (*Service).listStreams,
	"DescribeStream":   (*Service).describeStream,
	"GetShardIterator": (*Service).getShardIterator,
	"GetRecords":       (*Service).getRecords,
}

func (st streams) ServeOperation(_ context.Context, name string, body []byte) ([]byte, error) {
	perform, known := streamOperations[name]
	if !known {
		return nil, notImplemented("the operation %s of DynamoDB Streams is not implemented", name)
	}
	answer, err := perform(st.service, body)
	if err != nil {
		return nil, asFault(err)
	}
	return answer, nil
}

// shardID is the name of every stream's only shard.
const shardID = "shardId-00000000000000000000-00000000"

type streamSummary struct{ StreamArn, TableName, StreamLabel string }

func (s *Service) listStreams(body []byte) ([]byte, error) {
	in := struct {
		TableName               string
		ExclusiveStartStreamArn string
		Limit                   *int
	}{}
	if err := decodeControl("ListStreams", body, &in); err != nil {
		return nil, err
	}
	limit := maxListed
	if in.Limit != nil {
		limit = min(maxListed, *in.Limit)
	}
	answer := struct {
		Streams                []streamSummary
		LastEvaluatedStreamArn string `json:",omitempty"`
	}{Streams: []streamSummary{}}
	err := s.eachStream(func(t *table) bool {
		if in.TableName != "" && t.Name != in.TableName || t.streamARN() <= in.ExclusiveStartStreamArn {
			return true
		}
		if len(answer.Streams) == limit {
			answer.LastEvaluatedStreamArn = answer.Streams[limit-1].StreamArn
			return false
		}
		answer.Streams = append(answer.Streams, streamSummary{t.streamARN(), t.Name, t.Stream.Label})
		return true
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

// eachStream visits the tables that have a stream, by name.
func (s *Service) eachStream(visit func(*table) bool) error {
	return s.engine.View(func(tx kv.Tx) (err error) {
		tx.Ascend(catalogSpace, nil, func(name, _ []byte) bool {
			var t *table
			if t, err = s.lookup(tx, string(name)); err != nil {
				return false
			}
			return t.Stream.View == "" || visit(t)
		})
		return err
	})
}

// findStream finds the table of a stream by the stream's ARN.
func (s *Service) findStream(arn string) (*table, error) {
	var found *table
	err := s.eachStream(func(t *table) bool {
		if t.streamARN() == arn {
			found = t
		}
		return found == nil
	})
	if err == nil && found == nil {
		err = modelFault("ResourceNotFoundException", "Requested resource not found: Stream: "+arn+" not found")
	}
	return found, err
}

type shard struct {
	ShardID             string `json:"ShardId"`
	SequenceNumberRange sequenceRange
}

type sequenceRange struct{ StartingSequenceNumber string }

func (s *Service) describeStream(body []byte) ([]byte, error) {
	in := struct {
		StreamArn    string
		StartShardID string `json:"ExclusiveStartShardId"`
		Limit        *int
		ShardFilter  *struct {
			ShardID string `json:"ShardId"`
			Type    string
		}
	}{}
	if err := decodeControl("DescribeStream", body, &in); err != nil {
		return nil, err
	}
	t, err := s.findStream(in.StreamArn)
	if err != nil {
		return nil, err
	}
	shards := []shard{{shardID, sequenceRange{sequenceNumber(make([]byte, 8))}}}
	if in.StartShardID != "" || in.ShardFilter != nil {
		shards = []shard{} // nothing comes after the only shard, which has no children
	}
	return json.Marshal(map[string]any{"StreamDescription": map[string]any{
		"StreamArn": in.StreamArn, "StreamLabel": t.Stream.Label, "StreamStatus": "ENABLED", "StreamViewType": t.Stream.View,
		"CreationRequestDateTime": epoch(t), "TableName": t.Name, "KeySchema": t.Key.elements(), "Shards": shards,
	}})
}

// iteratorLife: an iterator serves for a quarter of an hour.
const iteratorLife = 15 * time.Minute
