package s3

import (
	"encoding/base64"
	"encoding/xml"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

// maxKeys is the longest page, and the page of one who does not say.
const maxKeys = 1000

// listing is a page as it is written.
type listing struct {
	XMLName     xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListBucketResult"`
	Name        string
	Prefix      string
	StartAfter  string `xml:",omitempty"`
	MaxKeys     int
	KeyCount    int
	IsTruncated bool
	Token       string `xml:"ContinuationToken,omitempty"`
	Next        string `xml:"NextContinuationToken,omitempty"`
	Contents    []listed
}

type listed struct {
	Key               string
	LastModified      string
	ETag              string
	Size              int64
	StorageClass      string
	ChecksumAlgorithm string
	ChecksumType      string
}

// listObjects answers a page of the objects whose keys begin with the prefix,
// in the order of the bytes of their keys.
func (s *Service) listObjects(r *request) (*answer, error) {
	query := r.URL.Query()
	if kind := query.Get("list-type"); kind != "2" {
		return nil, invalidArgument("list-type", kind, "list-type must be 2")
	}
	page := &listing{Name: r.Bucket, Prefix: query.Get("prefix"), StartAfter: query.Get("start-after"), Token: query.Get("continuation-token"), MaxKeys: maxKeys}
	after, err := page.begin(query)
	if err != nil {
		return nil, err
	}
	err = s.engine.View(func(tx kv.Tx) error {
		if err := requireBucket(tx, r.Bucket); err != nil {
			return err
		}
		return page.fill(tx, r.Bucket, after)
	})
	if err != nil {
		return nil, err
	}
	body, err := xml.Marshal(page)
	if err != nil {
		return nil, err
	}
	body = append([]byte(xml.Header), body...)
	return &answer{status: http.StatusOK, header: map[string]string{"Content-Type": "application/xml"}, body: body, length: len(body)}, nil
}

// begin reads how long the page is and returns the key that it begins behind.
func (p *listing) begin(query url.Values) (after string, err error) {
	if text := query.Get("max-keys"); query.Has("max-keys") {
		asked, err := strconv.Atoi(text)
		if err != nil || asked < 0 {
			return "", invalidArgument("max-keys", text, "Provided max-keys not an integer or within integer range")
		}
		p.MaxKeys = min(maxKeys, asked)
	}
	if p.Token == "" {
		return p.StartAfter, nil
	}
	key, err := base64.RawURLEncoding.DecodeString(p.Token)
	if err != nil || len(key) == 0 {
		return "", invalidArgument("continuation-token", p.Token, "The continuation token provided is incorrect")
	}
	return string(key), nil
}

func (p *listing) fill(tx kv.Tx, bucket, after string) (failed error) {
	if p.MaxKeys == 0 {
		return nil
	}
	before, last := string(objectKey(bucket, "")), ""
	from := before + p.Prefix
	if behind := before + after; behind >= from {
		from = behind + "\x00"
	}
	tx.Ascend(recordSpace, []byte(from), func(raw, value []byte) bool {
		key, here := strings.CutPrefix(string(raw), before)
		if !here || !strings.HasPrefix(key, p.Prefix) {
			return false
		}
		if len(p.Contents) == p.MaxKeys {
			p.IsTruncated, p.Next = true, base64.RawURLEncoding.EncodeToString([]byte(last))
			return false
		}
		var object *record
		if object, failed = decode(value, bucket, key); failed != nil {
			return false
		}
		last = key
		p.Contents = append(p.Contents, listed{Key: key, LastModified: object.modified().Format("2006-01-02T15:04:05.000Z"), ETag: object.etag(),
			Size: object.Size, StorageClass: "STANDARD", ChecksumAlgorithm: strings.ToUpper(object.Algorithm), ChecksumType: "FULL_OBJECT"})
		return true
	})
	p.KeyCount = len(p.Contents)
	return failed
}
