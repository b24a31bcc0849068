package s3

import (
	"bytes"
	"maps"
	"net/http"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

// getObject answers GetObject and HeadObject, which differ in the body alone.
func (s *Service) getObject(r *request) (*answer, error) {
	if many := r.Header.Get("If-Match") + r.Header.Get("If-None-Match"); strings.Contains(many, ",") {
		return nil, notImplemented("conditions with several entity tags")
	}
	var out *answer
	err := s.engine.View(func(tx kv.Tx) error {
		if err := requireBucket(tx, r.Bucket); err != nil {
			return err
		}
		object, err := find(tx, r.Bucket, r.Key)
		if err != nil {
			return err
		}
		if object == nil {
			return noSuchKey(r.Key)
		}
		if err := r.mayRead(object); err != nil {
			return err
		}
		part, err := r.part(object.Size)
		if err != nil {
			return err
		}
		out = object.show(part, r.Header.Get("X-Amz-Checksum-Mode") == "ENABLED")
		if r.Method != http.MethodHead {
			// A transaction's bytes are lent.
			out.body = bytes.Clone(tx.Get(contentSpace, objectKey(r.Bucket, r.Key))[part.from:part.to])
		}
		return nil
	})
	return out, err
}

func (r *request) mayRead(object *record) error {
	if match := r.Header.Get("If-Match"); match != "" && !object.matches(match) {
		return preconditionFailed("If-Match")
	}
	if none := r.Header.Get("If-None-Match"); none != "" && object.matches(none) {
		return &fault{status: http.StatusNotModified, code: "NotModified", message: "Not Modified", header: object.header()}
	}
	return nil
}

// show is the answer without the bytes. A checksum is of the whole object, so
// it goes with the whole object only.
func (o *record) show(part span, checksum bool) *answer {
	out := &answer{status: http.StatusOK, header: o.header(), length: int(part.to - part.from)}
	maps.Copy(out.header, o.Headers)
	for name, value := range o.Metadata {
		out.header[metadataPrefix+name] = value
	}
	out.header["Accept-Ranges"] = "bytes"
	out.header["X-Amz-Server-Side-Encryption"] = "AES256"
	if part.asked {
		out.status = http.StatusPartialContent
		out.header["Content-Range"] = part.contentRange(o.Size)
	} else if checksum {
		out.header[checksumPrefix+o.Algorithm] = o.Checksum
		out.header["X-Amz-Checksum-Type"] = "FULL_OBJECT"
	}
	return out
}

// deleteObject removes an object; one that is not there is no error.
//
// Requires: the bucket; under If-Match an object with that entity tag, or any
// for *. Loses when: it is another (412), or not there (404).
func (s *Service) deleteObject(r *request) (*answer, error) {
	match := r.Header.Get("If-Match")
	err := s.engine.Update(func(tx kv.Tx) error {
		if err := requireBucket(tx, r.Bucket); err != nil {
			return err
		}
		if match != "" {
			object, err := find(tx, r.Bucket, r.Key)
			switch {
			case err != nil:
				return err
			case object == nil:
				return noSuchKey(r.Key)
			case !object.matches(match):
				return preconditionFailed("If-Match")
			}
		}
		remove(tx, objectKey(r.Bucket, r.Key))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &answer{status: http.StatusNoContent}, nil
}

func remove(tx kv.Tx, key []byte) {
	tx.Delete(recordSpace, key)
	tx.Delete(contentSpace, key)
}
