package s3

import (
	"fmt"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

// Expire removes the objects of a bucket whose keys begin with the prefix and
// that were last written at or before the instant, as a lifecycle rule does
// within days, and returns how many. A bucket that is not there has none.
func (s *Service) Expire(bucket, prefix string, before time.Time) (removed int, err error) {
	err = s.engine.Update(func(tx kv.Tx) error {
		keys, err := writtenUntil(tx, bucket, prefix, before.UnixMilli())
		for _, key := range keys {
			remove(tx, key)
		}
		removed = len(keys)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("expire objects of %s: %w", bucket, err)
	}
	return removed, nil
}

func writtenUntil(tx kv.Tx, bucket, prefix string, until int64) (keys [][]byte, failed error) {
	from := string(objectKey(bucket, prefix))
	tx.Ascend(recordSpace, []byte(from), func(key, value []byte) bool {
		if !strings.HasPrefix(string(key), from) {
			return false
		}
		var object *record
		if object, failed = decode(value, bucket, string(key)); failed != nil {
			return false
		}
		if object.Modified <= until {
			keys = append(keys, []byte(string(key))) // a transaction's bytes are lent
		}
		return true
	})
	return keys, failed
}
