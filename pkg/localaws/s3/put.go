package s3

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

const (
	metadataPrefix = "X-Amz-Meta-"
	maxMetadata    = 2 << 10 // bytes of names and values
)

// kept are the headers that come back as they were sent.
var kept = []string{"Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Type", "Expires"}

// putObject stores an object whole, in place of one that is there.
//
// Requires: the bucket; under If-None-Match: * no such object, under If-Match
// one with that entity tag. Writes: record and content. Loses when: the
// condition does not hold (412), or names an object that is not there (404).
func (s *Service) putObject(r *request) (*answer, error) {
	if err := writable(r); err != nil {
		return nil, err
	}
	body, err := s.read(r)
	if err != nil {
		return nil, err
	}
	object, err := newRecord(r, body)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encode the record of %s/%s: %w", r.Bucket, r.Key, err)
	}
	err = s.engine.Update(func(tx kv.Tx) error {
		if err := r.mayReplace(tx); err != nil {
			return err
		}
		key := objectKey(r.Bucket, r.Key)
		tx.Put(recordSpace, key, raw)
		tx.Put(contentSpace, key, body.content)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &answer{status: http.StatusOK, header: map[string]string{
		"Etag": object.etag(), "X-Amz-Server-Side-Encryption": "AES256",
		checksumPrefix + object.Algorithm: object.Checksum, "X-Amz-Checksum-Type": "FULL_OBJECT",
	}}, nil
}

// writable refuses conditions and settings that S3 has and we have not, or
// that it has not either.
func writable(r *request) error {
	match, none := r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
	switch {
	case match != "" && none != "":
		return notImplemented("If-Match and If-None-Match together on PutObject")
	case none != "" && none != "*":
		return notImplemented("If-None-Match on PutObject with anything but *")
	case match == "*":
		return notImplemented("If-Match: * on PutObject")
	}
	if by := r.Header.Get("X-Amz-Server-Side-Encryption"); by != "" && by != "AES256" {
		return notImplemented("X-Amz-Server-Side-Encryption: " + by)
	}
	return nil
}

func (r *request) mayReplace(tx kv.Tx) error {
	if err := requireBucket(tx, r.Bucket); err != nil {
		return err
	}
	match, none := r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
	if match == "" && none == "" {
		return nil
	}
	there, err := find(tx, r.Bucket, r.Key)
	switch {
	case err != nil:
		return err
	case none != "" && there != nil:
		return preconditionFailed("If-None-Match")
	case match != "" && there == nil:
		return noSuchKey(r.Key)
	case match != "" && !there.matches(match):
		return preconditionFailed("If-Match")
	}
	return nil
}

func newRecord(r *request, body payload) (*record, error) {
	sum := md5.Sum(body.content)
	object := &record{
		Size: int64(len(body.content)), MD5: hex.EncodeToString(sum[:]), Modified: time.Now().UnixMilli(),
		Headers: map[string]string{"Content-Type": "binary/octet-stream"}, Algorithm: body.algorithm, Checksum: body.checksum,
	}
	for _, name := range kept {
		value := strings.Join(r.Header.Values(name), ",")
		if name == "Content-Encoding" {
			value = withoutChunks(value)
		}
		if value != "" {
			object.Headers[name] = value
		}
	}
	size := 0
	for name, values := range r.Header {
		short, found := strings.CutPrefix(name, metadataPrefix)
		if !found {
			continue
		}
		if object.Metadata == nil {
			object.Metadata = map[string]string{}
		}
		value := strings.Join(values, ",")
		object.Metadata[strings.ToLower(short)] = value
		size += len(short) + len(value)
	}
	if size > maxMetadata {
		return nil, &fault{status: http.StatusBadRequest, code: "MetadataTooLarge", message: "Your metadata headers exceed the maximum allowed metadata size",
			members: []member{{"Size", decimal(int64(size))}, {"MaxSizeAllowed", decimal(maxMetadata)}}}
	}
	return object, nil
}

// withoutChunks takes away the encoding that was for the way only.
func withoutChunks(encodings string) string {
	var others []string
	for one := range strings.SplitSeq(encodings, ",") {
		if one = strings.TrimSpace(one); one != "" && one != "aws-chunked" {
			others = append(others, one)
		}
	}
	return strings.Join(others, ",")
}
