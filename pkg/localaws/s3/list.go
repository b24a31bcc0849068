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
	Delimiter   string `xml:",omitempty"`
	StartAfter  string `xml:",omitempty"`
	Encoding    string `xml:"EncodingType,omitempty"`
	MaxKeys     int
	KeyCount    int
	IsTruncated bool
	Token       string `xml:"ContinuationToken,omitempty"`
	Next        string `xml:"NextContinuationToken,omitempty"`
	Contents    []listed
	Folders     []folder `xml:"CommonPrefixes"`
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

// folder stands for all keys that go on behind the same delimiter.
type folder struct{ Prefix string }

// listObjects answers a page of the objects whose keys begin with the prefix,
// in the order of the bytes of their keys.
func (s *Service) listObjects(r *request) (*answer, error) {
	page, after, err := newListing(r)
	if err != nil {
		return nil, err
	}
	err = s.engine.View(func(tx kv.Tx) error {
		if err := requireBucket(tx, r.Bucket); err != nil {
			return err
		}
		return page.fill(tx, after)
	})
	if err != nil {
		return nil, err
	}
	page.encode()
	body, err := xml.Marshal(page)
	if err != nil {
		return nil, err
	}
	body = append([]byte(xml.Header), body...)
	return &answer{status: http.StatusOK, header: map[string]string{"Content-Type": "application/xml"}, body: body, length: len(body)}, nil
}

// newListing reads what is asked for, and the key or folder that the page
// begins behind.
func newListing(r *request) (page *listing, after string, err error) {
	query := r.URL.Query()
	page = &listing{Name: r.Bucket, Prefix: query.Get("prefix"), Delimiter: query.Get("delimiter"), StartAfter: query.Get("start-after"),
		Encoding: query.Get("encoding-type"), Token: query.Get("continuation-token"), MaxKeys: maxKeys}
	if kind := query.Get("list-type"); kind != "2" {
		return nil, "", invalidArgument("list-type", kind, "list-type must be 2")
	}
	if page.Delimiter != "" && page.StartAfter != "" {
		return nil, "", notImplemented("delimiter and start-after together") // which of a folder's keys would be behind it?
	}
	if page.Encoding != "" && page.Encoding != "url" {
		return nil, "", invalidArgument("encoding-type", page.Encoding, "Invalid Encoding Method specified in Request")
	}
	if text := query.Get("max-keys"); query.Has("max-keys") {
		asked, err := strconv.Atoi(text)
		if err != nil || asked < 0 {
			return nil, "", invalidArgument("max-keys", text, "Provided max-keys not an integer or within integer range")
		}
		page.MaxKeys = min(maxKeys, asked)
	}
	if page.Token == "" {
		return page, page.StartAfter, nil
	}
	last, err := base64.RawURLEncoding.DecodeString(page.Token)
	if err != nil || len(last) == 0 {
		return nil, "", invalidArgument("continuation-token", page.Token, "The continuation token provided is incorrect")
	}
	return page, string(last), nil
}

func (p *listing) fill(tx kv.Tx, after string) (failed error) {
	if p.MaxKeys == 0 {
		return nil
	}
	bucket, last := string(objectKey(p.Name, "")), after
	from := max(bucket+p.Prefix, bucket+after)
	tx.Ascend(recordSpace, []byte(from), func(raw, value []byte) bool {
		key, here := strings.CutPrefix(string(raw), bucket)
		if !here || !strings.HasPrefix(key, p.Prefix) {
			return false
		}
		name, inside := p.entry(key)
		if name == last { // told by the page before, or of a folder that has been
			return true
		}
		if len(p.Contents)+len(p.Folders) == p.MaxKeys {
			p.IsTruncated, p.Next = true, base64.RawURLEncoding.EncodeToString([]byte(last))
			return false
		}
		last = name
		if inside {
			p.Folders = append(p.Folders, folder{name})
			return true
		}
		failed = p.add(key, value)
		return failed == nil
	})
	p.KeyCount = len(p.Contents) + len(p.Folders)
	return failed
}

// entry is what stands for the key in the list: itself, or the folder that it
// is inside of.
func (p *listing) entry(key string) (name string, inside bool) {
	if p.Delimiter != "" {
		if i := strings.Index(key[len(p.Prefix):], p.Delimiter); i >= 0 {
			return key[:len(p.Prefix)+i+len(p.Delimiter)], true
		}
	}
	return key, false
}

func (p *listing) add(key string, raw []byte) error {
	object, err := decode(raw, p.Name, key)
	if err != nil {
		return err
	}
	p.Contents = append(p.Contents, listed{Key: key, LastModified: object.modified().Format("2006-01-02T15:04:05.000Z"), ETag: object.etag(),
		Size: object.Size, StorageClass: "STANDARD", ChecksumAlgorithm: strings.ToUpper(object.Algorithm), ChecksumType: "FULL_OBJECT"})
	return nil
}

// encode writes keys as a caller asked who does not trust XML with them.
func (p *listing) encode() {
	if p.Encoding == "" {
		return
	}
	p.Prefix, p.Delimiter, p.StartAfter = escape(p.Prefix), escape(p.Delimiter), escape(p.StartAfter)
	for i := range p.Contents {
		p.Contents[i].Key = escape(p.Contents[i].Key)
	}
	for i := range p.Folders {
		p.Folders[i].Prefix = escape(p.Folders[i].Prefix)
	}
}

// escape leaves the slash as it is.
func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "%2F", "/") }
