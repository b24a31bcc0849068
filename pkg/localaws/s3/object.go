package s3

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

// The spaces of the engine that belong to this package. An object's record and
// content share a key and lie apart, so that HEAD and lists do not read the
// content.
const (
	bucketSpace  = "s3.bucket"  // name -> storedBucket
	recordSpace  = "s3.object"  // bucket, NUL, key -> record
	contentSpace = "s3.content" // bucket, NUL, key -> the bytes
)

type storedBucket struct {
	Created int64 `json:"created"` // Unix milliseconds
}

// record is everything about an object but its bytes.
type record struct {
	Size      int64             `json:"size"`
	MD5       string            `json:"md5"`                // hexadecimal
	Modified  int64             `json:"modified"`           // Unix milliseconds
	Headers   map[string]string `json:"headers,omitempty"`  // given back as they came
	Metadata  map[string]string `json:"metadata,omitempty"` // the user's, names in lower case
	Algorithm string            `json:"algorithm"`          // of the checksum
	Checksum  string            `json:"checksum"`           // base64
}

func (o *record) etag() string { return `"` + o.MD5 + `"` }

func (o *record) modified() time.Time { return time.UnixMilli(o.Modified).UTC() }

// header is what both a reader and one who asks in vain learn of the object.
func (o *record) header() map[string]string {
	return map[string]string{"Etag": o.etag(), "Last-Modified": o.modified().Format(http.TimeFormat)}
}

// objectKey is where an object lies. No name of a bucket holds a NUL.
func objectKey(bucket, key string) []byte { return []byte(bucket + "\x00" + key) }

func requireBucket(tx kv.Tx, name string) error {
	if tx.Get(bucketSpace, []byte(name)) == nil {
		return noSuchBucket(name)
	}
	return nil
}

// find returns the object's record, nil when there is no such object.
func find(tx kv.Tx, bucket, key string) (*record, error) {
	raw := tx.Get(recordSpace, objectKey(bucket, key))
	if raw == nil {
		return nil, nil
	}
	return decode(raw, bucket, key)
}

func decode(raw []byte, bucket, key string) (*record, error) {
	object := new(record)
	if err := json.Unmarshal(raw, object); err != nil {
		return nil, fmt.Errorf("decode the record of %s/%s: %w", bucket, key, err)
	}
	return object, nil
}

// matches compares an entity tag with a condition, which may leave out the
// quotes. A star stands for any object.
func (o *record) matches(condition string) bool {
	return condition == "*" || strings.Trim(condition, `"`) == o.MD5
}
