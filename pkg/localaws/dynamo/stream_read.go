package dynamo

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"strconv"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

// maxRecords and maxRecordBytes bound one GetRecords.
const (
	maxRecords     = 1000
	maxRecordBytes = 1 << 20
)

// iterator is a place in a stream; its text is what the caller holds.
type iterator struct {
	Stream string
	Next   uint64 // the least sequence number to return
	Made   int64  // Unix seconds
}

func (i iterator) text() string {
	encoded, err := json.Marshal(i)
	if err != nil {
		panic(err) // strings and numbers always have a JSON form
	}
	return base64.StdEncoding.EncodeToString(encoded)
}

func readIterator(text string, now time.Time) (iterator, error) {
	var i iterator
	encoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(encoded, &i) != nil {
		return i, validation("Invalid ShardIterator")
	}
	if now.Sub(time.Unix(i.Made, 0)) > iteratorLife {
		return i, modelFault("ExpiredIteratorException", "The shard iterator has expired: it is older than 15 minutes")
	}
	return i, nil
}

func (s *Service) getShardIterator(body []byte) ([]byte, error) {
	in := struct {
		StreamArn, ShardIteratorType, SequenceNumber string
		ShardID                                      string `json:"ShardId"`
	}{}
	if err := decodeControl("GetShardIterator", body, &in); err != nil {
		return nil, err
	}
	t, err := s.findStream(in.StreamArn)
	if err != nil {
		return nil, err
	}
	if in.ShardID != shardID {
		return nil, modelFault("ResourceNotFoundException", "Requested resource not found: Shard does not exist: "+in.ShardID)
	}
	oldest, newest := s.streamEnds(t)
	place := iterator{Stream: in.StreamArn, Made: time.Now().Unix()}
	switch in.ShardIteratorType {
	case "TRIM_HORIZON":
		place.Next = oldest
	case "LATEST":
		place.Next = newest + 1
	case "AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER":
		n, err := strconv.ParseUint(in.SequenceNumber, 10, 64)
		if err != nil {
			return nil, validation("Invalid SequenceNumber: %s", in.SequenceNumber)
		}
		if in.ShardIteratorType == "AFTER_SEQUENCE_NUMBER" {
			n++
		}
		if n < oldest {
			return nil, trimmed()
		}
		place.Next = n
	default:
		return nil, constraint("'"+in.ShardIteratorType+"'", "shardIteratorType",
			"Member must satisfy enum value set: [AFTER_SEQUENCE_NUMBER, LATEST, AT_SEQUENCE_NUMBER, TRIM_HORIZON]")
	}
	return json.Marshal(map[string]string{"ShardIterator": place.text()})
}

func trimmed() error {
	return modelFault("TrimmedDataAccessException", "The operation attempted to read past the oldest stream record in a shard.")
}

// streamEnds returns the sequence number of the oldest record kept, and of the
// newest ever written.
func (s *Service) streamEnds(t *table) (oldest, newest uint64) {
	_ = s.engine.View(func(tx kv.Tx) error {
		if counted := tx.Get(t.meta, []byte("stream")); counted != nil {
			newest = binary.BigEndian.Uint64(counted)
		}
		oldest = newest + 1
		if key := first(tx, t.streamSpace); key != nil {
			oldest = binary.BigEndian.Uint64(key)
		}
		return nil
	})
	return oldest, newest
}

func (s *Service) getRecords(body []byte) ([]byte, error) {
	in := struct {
		ShardIterator string
		Limit         *int
	}{}
	if err := decodeControl("GetRecords", body, &in); err != nil {
		return nil, err
	}
	limit := maxRecords
	if in.Limit != nil {
		limit = *in.Limit
	}
	if limit < 1 || limit > maxRecords {
		return nil, constraint("'"+strconv.Itoa(limit)+"'", "limit", "Member must have value between 1 and 1000")
	}
	now := time.Now()
	place, err := readIterator(in.ShardIterator, now)
	if err != nil {
		return nil, err
	}
	t, err := s.findStream(place.Stream)
	if err != nil {
		return nil, err
	}
	if oldest, _ := s.streamEnds(t); place.Next < oldest {
		return nil, trimmed()
	}
	return s.readRecords(t, place, limit, now)
}

func (s *Service) readRecords(t *table, place iterator, limit int, now time.Time) ([]byte, error) {
	o := newObject()
	o.member("Records")
	o.text = append(o.text, '[')
	count := 0
	err := s.engine.View(func(tx kv.Tx) error {
		tx.Ascend(t.streamSpace, binary.BigEndian.AppendUint64(nil, place.Next), func(key, stored []byte) bool {
			if count == limit || count > 0 && len(o.text)+len(stored) > maxRecordBytes {
				return false
			}
			if count++; count > 1 {
				o.text = append(o.text, ',')
			}
			o.text = append(o.text, stored[8:]...)
			place.Next = binary.BigEndian.Uint64(key) + 1
			return true
		})
		return nil
	})
	o.text = append(o.text, ']')
	place.Made = now.Unix()
	o.string("NextShardIterator", place.text())
	return o.close(), err
}
